from srv.m import *
b = Board()
print(b.run(b.bump))
