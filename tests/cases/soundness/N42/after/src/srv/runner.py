class Runner:
    def __init__(self, size):
        self.size = size

    @classmethod
    def build(cls, size):
        return build(size)


class Draft(Runner):
    pass


def build(size):
    return Runner(size * 2)
