import m
print(m.join("a", "b"), m.half("a/b"))
