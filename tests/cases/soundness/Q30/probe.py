from srv.m import f
o=[]
i,g=f(lambda:o.append(g()))
i(); print(o)
