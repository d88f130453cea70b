from srv.m import *
from types import SimpleNamespace
log=[]
run(SimpleNamespace(open=True), [1,2], log)
print(log)
