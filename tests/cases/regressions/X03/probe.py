from pools import make
print(make("flat", 4), make("paged", 64), make("paged", 4))
