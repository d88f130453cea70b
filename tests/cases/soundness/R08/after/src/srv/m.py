class Box:
    def __init__(self, v):
        self.v = v

    def up(self):
        self.v += 1


def go(a, b):
    a.up()
    return (a.v, b)
