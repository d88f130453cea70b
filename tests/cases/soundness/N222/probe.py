from srv.runner import run
print(run(0), run(3))
