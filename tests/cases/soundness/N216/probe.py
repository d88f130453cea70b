from srv.runner import run, walk
print(run(3) + walk(n=2), run(1))
