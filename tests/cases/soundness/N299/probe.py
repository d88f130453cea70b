from srv.runner import run
print(run(0), run(1), run(2))
