import dst
print(open("docs.rst").read().count("dst.f"), dst.f.__doc__)
