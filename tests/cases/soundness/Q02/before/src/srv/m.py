def f(x, out):
    with x:
        out.append(0)
    out.append(1)
    out.append(2)
