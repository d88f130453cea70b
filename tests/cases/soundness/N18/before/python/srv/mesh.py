class Mesh:
    def __init__(self, own, ranks):
        self.own = own
        self.ranks = ranks

    def others(self):
        return [r for r in self.ranks if r != self.own]
