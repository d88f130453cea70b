from srv.m import *
from srv.table import STEPS
make()
print(list(STEPS))
