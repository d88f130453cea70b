from m import fits
print(fits(1, 5, 3), fits(1, 2, 3))
