from srv.m import Meter
m = Meter()
m.run(3)
print(m.seen)
