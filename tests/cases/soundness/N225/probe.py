from srv.runner import run
print(run(False), run(True))
