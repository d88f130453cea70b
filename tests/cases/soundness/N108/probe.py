from srv.session import serve
try:
    print(serve(2))
except NameError as error:
    print(error)
