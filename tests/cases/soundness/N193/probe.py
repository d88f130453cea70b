from srv.pool import Pool
pool = Pool(8)
pool.used += 3
print(pool.free)
