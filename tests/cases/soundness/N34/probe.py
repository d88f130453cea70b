from srv.pool import Pool
print(Pool().drain())
