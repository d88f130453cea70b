from srv.session import serve
print(serve("ab", 2))
