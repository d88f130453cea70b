from srv.m import *
board = Board()
g = board.run()
next(g)
board.n = 5
try:
    g.send(2)
except StopIteration as stop:
    print(stop.value)
