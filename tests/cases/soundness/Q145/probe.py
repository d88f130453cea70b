from srv.m import *
b = Board()
print([b.add(i) for i in range(4)], b.rows)
