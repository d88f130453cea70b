from m import shout
print(shout(["a"]), shout(["a", "b"]))
