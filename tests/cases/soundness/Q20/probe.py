from srv.m import *
o=[]
Runner(lambda:o.append(1),lambda:o.append(2))
print(o)
