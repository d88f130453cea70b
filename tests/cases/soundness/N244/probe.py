from srv.limits import MAX, MIN
print(MAX, MIN)
