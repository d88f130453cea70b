from m import flat
print(flat([1, (2, [3])]), flat([{4}]))
