class Runner:
    def __init__(self, rank, size):
        self.rank = rank
        self.size = size

    def label(self):
        return f"{self.size}/{self.rank}"
