from srv.m import *
print(Reader(Tape()).run())
