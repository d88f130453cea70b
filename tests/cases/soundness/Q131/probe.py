from srv.m import run
from srv.start import start
start()
print(run())
