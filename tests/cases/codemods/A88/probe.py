import c
print(c.f())
