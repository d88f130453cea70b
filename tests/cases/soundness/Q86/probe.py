from srv.sub import Loud
from srv.m import Runner
print(Loud(Runner(), 1).go())
