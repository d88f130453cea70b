class Pool:
    def __init__(self):
        self.free = []


def empty(pool):
    return not pool
