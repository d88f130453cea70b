class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = None
        self.rest = None

    def setup(self):
        page = 16
        self.pages = self.tokens // page
        self.rest = self.tokens % page
