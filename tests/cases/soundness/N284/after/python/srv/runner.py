class Runner:
    def __init__(self):
        self.step = 0

    def labeler(self):
        return labeler(step=self.step)


def labeler(*, step):
    return lambda: f"step {step}"
