from srv.options import describe
print(describe())
