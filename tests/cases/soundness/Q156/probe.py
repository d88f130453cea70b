from srv.m import *
print(Other().run())
