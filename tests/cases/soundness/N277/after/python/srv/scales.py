def scaled(n):
    return n * scale


def load():
    global scale
    scale = 3
