from srv.m import Meter
print(Meter().run(3))
