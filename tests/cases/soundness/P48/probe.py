from srv.m import add, count
add(1)
print(count())
