G = 0
def bump():
    global G
    G += 1
def f():
    global G
    G = 1
    bump()
    return 1
