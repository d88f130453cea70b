import m
print(m.ends("a\n"))
