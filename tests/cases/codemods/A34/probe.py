import t
print(t.A().f(), t.A().g())
