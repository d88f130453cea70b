from m import kinds
print(kinds())
