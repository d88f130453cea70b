class Board:
    def scale(self, by, x):
        return x - by

    def one(self, x):
        return self.scale(1, x)
