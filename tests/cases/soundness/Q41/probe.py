from srv.m import A
a=A(); a.f(); print(a.o)
