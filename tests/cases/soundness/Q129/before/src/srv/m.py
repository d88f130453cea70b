class Board:
    def __init__(self):
        self.count = 0

    def bump(self):
        self.count += 1
        return "bumped"

    def run(self):
        return f"{self.count} {self.bump()}"
