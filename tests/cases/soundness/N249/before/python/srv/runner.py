class Runner:
    def __init__(self):
        self.log = ["old"]

    def reset(self, text):
        self.log = []
        self.log.append(text)
