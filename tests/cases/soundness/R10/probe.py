from srv.m import *


class N:
    left = None


print(T().walk(N()))
