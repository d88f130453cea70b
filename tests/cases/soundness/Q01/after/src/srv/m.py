def h(x):
    try:
        x()
    except ValueError:
        return True
def f(x, out):
    if not h(x):
        out.append(1)
        out.append(2)
