class Doubled:
    def __get__(self, owner, kind):
        return owner.raw

    def __set__(self, owner, value):
        owner.raw = value * 2


class Board:
    level = Doubled()

    def run(self, value):
        self.level = value
        return value
