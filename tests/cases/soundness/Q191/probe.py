from srv.n import call
from srv.m import Board
print(call(Board(), 'open'))
