from srv.m import f
import contextlib
o=[]; f(contextlib.nullcontext(),o); print(o)
