from m import many, one, ranked
print(one(5), many([2, 5]), ranked([1, 4], 3))
