from srv.runner import run, total
print(run(3), total([1, 2]))
