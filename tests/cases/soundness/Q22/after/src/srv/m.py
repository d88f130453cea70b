def f(g, h, out):
    a = 0
    try:
        t = g()
        h()
        a = t
    finally:
        out.append(a)
