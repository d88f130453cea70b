import k
print(k.base)
