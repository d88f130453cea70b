unit = 10


class Pack:
    unit = 2

    def sizes(self, count=unit):
        return [unit * k for k in range(count)]
