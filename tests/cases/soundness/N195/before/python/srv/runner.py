class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = 0
        self.rest = 0

    def setup(self, page):
        pages, rest = divmod(self.tokens, page)
        self.pages = pages
        self.rest = rest
