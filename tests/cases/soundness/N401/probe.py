from srv.parts import polled

print(polled(3))
