class Runner:
    def __init__(self, size):
        self.size = size

    @classmethod
    def build(cls, size):
        return cls(size * 2)


class Draft(Runner):
    pass
