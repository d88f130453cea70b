class Meter:
    def __init__(self):
        self.raw = 0

    @property
    def level(self):
        return self.raw // 10

    @level.setter
    def level(self, value):
        self.raw = value * 10


class Board:
    def __init__(self, meter):
        self.meter = meter

    def run(self, value):
        self.meter.level = value
        return f"raw {self.meter.raw}"
