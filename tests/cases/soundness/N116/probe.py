from srv.runner import run
print(run(True, False))
