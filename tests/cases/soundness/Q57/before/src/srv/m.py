class Meter:
    def __init__(self):
        self.raw = 0

    @property
    def level(self):
        return self.raw // 10

    @level.setter
    def level(self, value):
        self.raw = value * 10

    def run(self, value):
        self.level = value
        shown = self.raw
        return shown
