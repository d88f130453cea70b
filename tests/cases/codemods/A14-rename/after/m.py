class W:
    def __init__(self):
        self.place = "r1"

    def line(self):
        return f"self.rank={self.place!r} | self.rank = {self.place:>4}"
