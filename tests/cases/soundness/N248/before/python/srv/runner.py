class Runner:
    def __init__(self):
        self.log = []

    def note(self, text):
        self.log.append(text.upper())
        self.log.append("--")
