from srv.m import *
b = Board(None)
b.step = b.bump
print(b.run())
