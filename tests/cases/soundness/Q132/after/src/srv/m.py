class Board:
    def __init__(self):
        self.count = 0

    def bump(self):
        self.count += 1

    def run(self, done):
        count = self.count
        done()
        return f"count {count}"
