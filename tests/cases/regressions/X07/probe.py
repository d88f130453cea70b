from m import summary
print(summary([]), summary([3, -1, 4]))
