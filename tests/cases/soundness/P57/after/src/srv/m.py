from srv.n import f
from srv.tick import tick

X = tick()
