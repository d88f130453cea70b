MAX_BATCH = 8


def clip(n):
    return min(n, MAX_BATCH)


class Runner:
    def __init__(self, waiting):
        self.waiting = waiting

    def batch(self):
        return clip(self.waiting)
