from srv.session import serve
print(serve(9))
