from srv.runner import run
print(run() is run(), run())
