class Mesh:
    def __init__(self, r, ranks):
        self.r = r
        self.ranks = ranks

    def others(self):
        return [r for r in self.ranks if r != self.r]
