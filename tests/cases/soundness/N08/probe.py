from srv.session import add, size
add("a")
add("b")
print(size())
