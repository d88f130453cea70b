from srv.m import *
print(Tape().run())
