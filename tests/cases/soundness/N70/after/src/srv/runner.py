class Runner:
    def __init__(self):
        self.trace = []

    def load(self, text):
        self.trace.append("open")
        size = self._read(text)
        return size + 1

    def _read(self, text):
        try:
            size = int(text)
            self.trace.append("read")
        finally:
            self.trace.append("close")
        return size
