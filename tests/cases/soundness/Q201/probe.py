from srv.m import *
print(Board(2).run())
