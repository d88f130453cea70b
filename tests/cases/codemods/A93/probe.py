import k
print(k.left)
