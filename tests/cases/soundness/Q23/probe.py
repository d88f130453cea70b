from srv.m import A
a=A()
try: a.f(1,0)
except ZeroDivisionError: pass
print(a.x)
