class Pool:
    def __init__(self, size):
        self.size = size
        self.used = 0

    @property
    def free(self):
        free = self.size - self.used
        return max(free, 0)
