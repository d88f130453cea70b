from srv.runner import run
print(run(1))
