LOG = []


class Board:
    def __init__(self):
        self.level = 1

    def __getattribute__(self, name):
        LOG.append(name)
        return object.__getattribute__(self, name)

    def run(self):
        return f"{self.level} {self.level}"
