from srv.runner import run
try:
    print(run(False))
except UnboundLocalError:
    print("unbound")
