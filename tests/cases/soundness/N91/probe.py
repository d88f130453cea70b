from srv.request import encode, make
print(encode(make(3)))
