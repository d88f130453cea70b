class Runner:
    def __init__(self):
        self.pages = 0
        self.log = []

    def report(self):
        self.log.append(self.pages)

    def setup(self):
        self.pages = setup(report=self.report)


def setup(*, report):
    pages = 16
    report()
    return pages
