from srv.runner import run
print(run([3, 9, 4]))
