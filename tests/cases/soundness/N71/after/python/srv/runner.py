class Runner:
    def __init__(self):
        self.trace = []

    def run(self):
        self._first()
        self.trace.append("second")

    def _first(self):
        try:
            self.trace.append("first")
        finally:
            self.trace.append("close")
