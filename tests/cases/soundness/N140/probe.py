from srv.pool import Pool
pool = Pool()
pool.warm()
print(pool.used)
