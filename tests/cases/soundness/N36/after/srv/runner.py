class Runner:
    def __init__(self, size):
        self.size = size

    def plan(self):
        return width(size=self.size) + 1


def width(*, size):
    return size
