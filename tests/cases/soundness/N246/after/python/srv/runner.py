from srv.widths import width


class Runner:
    def __init__(self, size):
        self.size = size

    def width(self):
        return width(size=self.size)
