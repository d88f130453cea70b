from shapes import Shape

EMPTY = Shape


class Canvas:
    def __init__(self, shape):
        self.size = 3
