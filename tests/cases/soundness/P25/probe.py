import contextlib
from srv.m import f
f(1, contextlib.nullcontext())
print('end')
