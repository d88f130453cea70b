def f(g, h, out):
    a = 0
    try:
        a = g()
        h()
    finally:
        out.append(a)
