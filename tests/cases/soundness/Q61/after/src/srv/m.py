class Meter:
    def __init__(self):
        self.raw = 0
        self.seen = []

    @property
    def level(self):
        return self.raw

    @level.setter
    def level(self, value):
        self.seen.append(value)
        self.raw = value

    def run(self, value):
        level = value + 1
        self.seen.append("end")
        self.level = level
