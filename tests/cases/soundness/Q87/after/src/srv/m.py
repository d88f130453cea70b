from srv.make import make


class Helper:
    def __init__(self, size):
        self.size = size

    def go(self):
        return self.size


class Runner:
    def __init__(self):
        self.size = 4
        self.helper = Helper(self.size)

    def another(self):
        return make(type(self.helper), self)
