from srv.m import *
print(Board.order)
