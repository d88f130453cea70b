class Board:
    def __init__(self, step):
        self.count = 0
        self.step = step

    def run(self):
        count = self.count
        done = self.step()
        return f"{done} {count}"

    def bump(self):
        self.count += 1
        return "bumped"
