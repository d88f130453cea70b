from srv.runner import run
print(run([4, 1, 9]))
