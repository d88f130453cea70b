from srv.m import *
from types import SimpleNamespace
print(run(SimpleNamespace(factor=1), [1, 2]))
