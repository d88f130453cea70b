from srv.m import *
print(Board.names)
