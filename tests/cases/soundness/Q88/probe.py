from srv.m import run
print(run([1, 2]))
