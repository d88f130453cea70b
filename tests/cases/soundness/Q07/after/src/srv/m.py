OUT = []
def g(): OUT.append(1)
def h(): OUT.append(2)
def f(x, y, z=0):
    return [x, y]
def go():
    return f(y=h(), x=g())
