from srv.units import MICRO
print(len(MICRO))
