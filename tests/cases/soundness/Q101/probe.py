from srv.m import run
print(run())
