from m import traced
print(traced(dict, a=1))
