from srv.m import A
a=A()
def g():
    yield a.x
print(a.f(g()))
