class Helper:
    def __init__(self, size):
        self.size = size

    def go(self):
        return self.size() + 1


class Runner:
    def __init__(self):
        self.size = 4
        self.helper = Helper(lambda size=self.size: size)

    def grow(self):
        self.size += 1
