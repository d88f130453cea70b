class Meter:
    def __init__(self):
        self.log = []

    @property
    def level(self):
        return self.log[-1]

    @level.setter
    def level(self, value):
        self.log.append(value)

    def run(self, value):
        self.level = value
        self.level = value
        return self.log
