from srv.pool import Pool
pool = Pool()
pool.table.append(1)
print(pool.table)
