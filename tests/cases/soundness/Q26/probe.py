from srv.m import A
a=A()
try: a.f(0)
except TypeError: pass
print(a.x)
