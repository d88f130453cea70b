import m
print(m.pick(3, 0), m.pick(3, 1), m.LOADS)
