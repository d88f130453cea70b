from m import A
print(A().run())
