from srv.sub import Loud
from srv.m import Board
try:
    print(Loud().run(1))
except TypeError as e:
    print(e)
