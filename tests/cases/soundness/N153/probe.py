from srv.pool import Pool
pool = Pool()
pool.used += 3
print(pool.free)
