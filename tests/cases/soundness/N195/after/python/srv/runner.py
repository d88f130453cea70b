from srv.sizing import split_pages


class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = 0
        self.rest = 0

    def setup(self, page):
        self.pages, self.rest = split_pages(page, tokens=self.tokens)
