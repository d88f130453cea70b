import pack

unit = 10


class Pack:
    unit = 2
    SIZES = [unit * k for k in range(unit)]

    def sizes(self, count=unit):
        return pack.sizes(count, self_unit=self.unit, sizes=self.SIZES)
