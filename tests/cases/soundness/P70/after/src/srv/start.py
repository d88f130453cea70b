import srv.n
from srv.tick import tick

X = tick()
