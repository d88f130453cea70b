from srv.session import serve
print(serve("abcdefgh"))
