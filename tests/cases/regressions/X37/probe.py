from m import Runner

a, b = Runner(), Runner()
print(a.step(), b.step())
