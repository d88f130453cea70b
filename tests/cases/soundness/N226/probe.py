from srv.scratch import run
print(run())
