class Proc:
    def __init__(self, args):
        self.args = args

    @property
    def fast(self):
        return self.args["fast"]

    def run(self):
        return self.fast
