class Pool:
    def __init__(self):
        self.used = 0

    def take(self):
        self.used += 1
        return True

    def admit(self, ready):
        return bool(ready) and self.take()
