unit = 10


class Pack:
    unit = 2
    SIZES = [unit * k for k in range(unit)]

    def sizes(self, count=unit):
        return [unit * k for k in range(self.unit)], self.SIZES[:count]
