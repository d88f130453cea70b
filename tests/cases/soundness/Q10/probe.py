from srv.m import f
o=[]; f(1,lambda t:(t.append(2),o.append(len(t)))); print(o)
