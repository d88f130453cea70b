class Runner:
    def __init__(self):
        self.trace = []

    def load(self, text):
        self.trace.append("open")
        try:
            size = int(text)
            self.trace.append("read")
        finally:
            self.trace.append("close")
        return size + 1
