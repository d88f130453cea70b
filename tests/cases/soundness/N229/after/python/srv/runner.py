class Runner:
    def __init__(self):
        self.steps_done = 4

    def label(self):
        return "{0.cnt} steps".format(self)
