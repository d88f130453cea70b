class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = 7

    def setup(self):
        if self.tokens > 0:
            self.pages = self.tokens // 16
