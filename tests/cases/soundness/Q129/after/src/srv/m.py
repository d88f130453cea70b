class Board:
    def __init__(self):
        self.count = 0

    def bump(self):
        self.count += 1
        return "bumped"

    def run(self):
        bumped = self.bump()
        return f"{self.count} {bumped}"
