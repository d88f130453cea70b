from srv.m import *
print(Reader(0).run(Tape()))
