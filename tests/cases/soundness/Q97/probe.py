from srv.m import *
from types import SimpleNamespace
log=[]
run(SimpleNamespace(ready=False), log)
print(log)
