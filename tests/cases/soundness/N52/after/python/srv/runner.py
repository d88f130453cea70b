from srv.sizing import split_pages


class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = None
        self.rest = None

    def setup(self):
        result = split_pages(tokens=self.tokens)
        self.pages = result.pages
        self.rest = result.rest
