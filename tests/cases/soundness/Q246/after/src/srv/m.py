class Board:
    def __init__(self):
        self.count = 0

    def set(self, **given):
        for key, value in given.items():
            setattr(self, key, value)

    def run(self):
        count = self.count
        self.set(count=7)
        return f'{count}'
