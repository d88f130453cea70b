from srv.runner import run
print(repr(run(2)))
