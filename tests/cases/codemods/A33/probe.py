import d
print(repr(d.f.__doc__))
