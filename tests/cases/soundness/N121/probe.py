from srv.runner import NAMES, run
print(run(1, 2), NAMES)
