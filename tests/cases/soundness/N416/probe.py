from srv.m import number, shown

print(number(), shown())
