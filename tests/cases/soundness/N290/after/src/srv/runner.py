class Runner:
    def __init__(self):
        self.step = 0
        self.callbacks = [lambda: label(step=self.step)]


def label(*, step):
    return f"step {step}"
