def f(a, g):
    for i in range(3):
        g([a])
