from srv.session import add, count
add("a")
add("b")
print(count())
