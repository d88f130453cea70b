from srv.m import f
print(f([],lambda:7))
