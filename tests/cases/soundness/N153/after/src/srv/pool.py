class Pool:
    def __init__(self):
        self.used = 0
        self.free = 8 - self.used
