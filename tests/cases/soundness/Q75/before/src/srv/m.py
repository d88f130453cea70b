class Board:
    def __init__(self, step):
        self.count = 0
        self.step = step

    def run(self):
        done = self.step()
        return f"{done} {self.count}"

    def bump(self):
        self.count += 1
        return "bumped"
