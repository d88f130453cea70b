from srv.m import run
out=[]
run(out)
print(out)
