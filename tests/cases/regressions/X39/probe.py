from m import blocks
print(blocks(10, 4), blocks(8, 4))
