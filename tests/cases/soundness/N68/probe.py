from srv.runner import run
print(run(3), run(0))
