class Runner:
    def __init__(self):
        self.out = []

    def load(self, text):
        try:
            return int(text)
        except ValueError:
            self.out.append(text)
            self.out.append("failed")
            raise
