class Place:
    def __init__(self, rank):
        self.rank = rank


class W:
    def __init__(self):
        self.place = Place(rank="r1")

    def line(self):
        return f"self.rank={self.place.rank!r} | self.rank = {self.place.rank:>4}"
