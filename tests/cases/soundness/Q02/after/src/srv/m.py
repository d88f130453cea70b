def h(x, out):
    with x:
        out.append(0)
        return True
def f(x, out):
    if not h(x, out):
        out.append(1)
        out.append(2)
