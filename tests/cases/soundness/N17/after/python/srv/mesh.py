class Mesh:
    def __init__(self, r, ranks):
        self.r = r
        self.ranks = ranks

    def others(self):
        return others(r=self.r, ranks=self.ranks)


def others(*, r, ranks):
    return [r for r in ranks if r != r]
