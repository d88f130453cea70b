from srv.session import serve
print(serve("ab"))
