from srv.m import f
print(f(1,lambda t:t.append(2),lambda t:t))
