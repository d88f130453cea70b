from m import collect
print(collect(1), collect(2))
