from m import with_self

ranks = [1]
print(with_self(ranks, 2), ranks)
