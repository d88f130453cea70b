import ff, user
print(len(ff.x), user.ROOT, open("ff.py", "rb").read().count(b"\x0c"))
