LOG = []


class Board:
    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)

    def run(self, value):
        self.other = value
        self.level = value
        return value
