LOG = []


class Board:
    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)

    def run(self, value):
        self.level = value
        self.other = value
        return value
