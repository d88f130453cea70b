class Base:
    count = 0

    def __setattr__(self, name, value):
        object.__setattr__(self, "count", self.count + 1)
        object.__setattr__(self, name, value)
