import tail
print(tail.A().last(), tail.A().f(), open("tail.py", "rb").read()[-1:] == b"\n")
