class Runner:
    def __init__(self):
        self.cnt = 4

    def label(self):
        return "{0.cnt} steps".format(self)
