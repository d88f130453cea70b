from m import Pack
print(Pack.SIZES, Pack().sizes(), Pack().sizes(1))
