class Session:
    def __init__(self):
        self.seen = []

    def see(self, x):
        self.seen.append(x)
        return len(self.seen)
