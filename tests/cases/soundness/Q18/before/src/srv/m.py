class Helper:
    def __init__(self, runner):
        self.runner = runner
    def go(self):
        return self.runner.size
def build(r, other):
    h = Helper(r)
    r = other
    return h, r
