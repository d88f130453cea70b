from srv.m import *
print(Board.commands)
