from srv.pool import Pool, empty
print(empty(Pool()))
