G = 1


def put():
    global G
    G = 2
