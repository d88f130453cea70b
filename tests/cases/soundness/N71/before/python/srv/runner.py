class Runner:
    def __init__(self):
        self.trace = []

    def run(self):
        try:
            self.trace.append("first")
            self.trace.append("second")
        finally:
            self.trace.append("close")
