from srv.m import f
print(f([],5,lambda a:a.append(2)))
