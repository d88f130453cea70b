from srv.request import Request
print(Request(7).size(), Request(7).pages())
