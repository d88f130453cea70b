class Board:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

    def run(self, value):
        self.level = value
        return value
