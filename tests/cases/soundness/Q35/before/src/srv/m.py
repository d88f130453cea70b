G = 0
def bump():
    global G
    G += 1
def f():
    bump()
    return G
