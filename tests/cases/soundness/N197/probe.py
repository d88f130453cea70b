from srv.session import check, make
print(check(make(3)), check(4))
