from srv.request import Request
from srv.session import kind
print(kind(Request(0)), kind(Request(1)))
