from srv.m import run
print(run(3))
