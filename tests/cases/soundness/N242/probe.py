from srv.session import serve
try:
    print(serve())
except TypeError as error:
    print("positional")
