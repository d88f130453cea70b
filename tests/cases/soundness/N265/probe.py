from srv.request import Request
try:
    print(Request(1, 2))
except TypeError:
    print("one field")
