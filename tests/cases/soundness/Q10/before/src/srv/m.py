def f(a, g):
    t = [a]
    for i in range(3):
        g(t)
