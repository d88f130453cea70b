from m import A
a = A()
f = A.later(n=lambda: a.n)
a.n = 5
print(f())
