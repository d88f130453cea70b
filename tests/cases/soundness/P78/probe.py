from srv.t import run
a, b = run()
print(a == 1, b == 2)
