class Ranked:
    def is_first(self):
        return self.rank == 0
