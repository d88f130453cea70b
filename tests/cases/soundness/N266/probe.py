from srv.runner import load
try:
    print(load("0"))
except ZeroDivisionError:
    print("escaped")
