from srv.runner import run
print([run(a, b) for a in (0, 1) for b in (0, 1)])
