from srv.m import f
def h(): raise ValueError
o=[]
try: f(lambda:5,h,o)
except ValueError: pass
print(o)
