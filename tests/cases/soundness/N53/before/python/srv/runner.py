class Runner:
    def __init__(self, tokens):
        self.tokens = tokens

    def setup(self):
        page = 16
        self.pages = self.tokens // page
        self.rest = self.tokens % page
