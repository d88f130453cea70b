from srv.pool import Pool
Pool().add("a")
print(len(Pool().known))
