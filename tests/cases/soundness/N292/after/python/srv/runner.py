class Runner:
    def __init__(self):
        self.steps_done = 4

    def __getattr__(self, name):
        return 0


def report(runner):
    return f"{runner.cnt} steps"
