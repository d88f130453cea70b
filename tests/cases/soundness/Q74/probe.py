from srv.m import *
b = Board()
b.step = Counting(b)
print(b.run())
