from srv.pool import Pool
pool = Pool()
pool.admit(False)
print(pool.used)
