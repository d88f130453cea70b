class Pool:
    def __init__(self):
        self.used = 4

    def flush(self):
        self.used = 0

    def drain(self):
        used = self.used
        self.flush()
        return f"freed {used}"
