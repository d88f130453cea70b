class Runner:
    __slots__ = ("num_slots",)

    def __init__(self, n):
        self.num_slots = n

    def size(self):
        return self.num_slots
