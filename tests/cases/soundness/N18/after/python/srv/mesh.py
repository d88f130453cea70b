class Mesh:
    def __init__(self, own, ranks):
        self.own = own
        self.ranks = ranks

    def others(self):
        return others(own=self.own, ranks=self.ranks)


def others(*, own, ranks):
    return [r for r in ranks if r != own]
