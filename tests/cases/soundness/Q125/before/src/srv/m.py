class Board:
    def scale(self, x, by):
        return x - by

    def one(self, x):
        return self.scale(x, 1)
