from srv.m import Meter, Board
print(Board(Meter()).run(3))
