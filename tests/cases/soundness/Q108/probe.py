from srv.m import *
from srv.table import STEPS
print(list(STEPS))
