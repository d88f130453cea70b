from srv.m import A
a=A()
try: a.f(0)
except AssertionError: pass
print(a.x)
