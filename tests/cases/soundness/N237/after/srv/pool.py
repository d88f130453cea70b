class Pool:
    def __init__(self):
        self.used = 4

    def flush(self):
        self.used = 0

    def drain(self):
        self.flush()
        return f"freed {self.used}"
