class Pool:
    def __init__(self):
        self.used = 0

    @property
    def free(self):
        return 8 - self.used
