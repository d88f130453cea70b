class Helper:
    def __init__(self, runner):
        self.runner = runner
    def go(self):
        return self.runner.size
class Top:
    def __init__(self, r):
        self.r = r
        self.h = Helper(self.r)
    def swap(self, r):
        self.r = r
