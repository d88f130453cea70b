class Pool:
    def __init__(self):
        self.free = []

    def __len__(self):
        return len(self.free)


def empty(pool):
    return not pool
