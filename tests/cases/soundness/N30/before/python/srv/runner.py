class Runner:
    def __init__(self, rank, size):
        self.rank = rank
        self.size = size

    def device(self, per_node=8):
        local = self.rank % per_node
        return f"cuda:{local}/{self.size}"
