class Runner:
    def __init__(self):
        self.ready = True
        self.out = []

    def run(self):
        if self.ready:
            self._first()
        if self.ready:
            self.out.append("second")

    def _first(self):
        self.ready = False
        self.out.append("first")
