from srv.request import Request
try:
    print(Request(1, 2).slot)
except TypeError:
    print("one field")
