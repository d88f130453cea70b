from srv.sizing import split_pages


class Runner:
    def __init__(self, tokens):
        self.tokens = tokens

    def setup(self):
        result = split_pages(tokens=self.tokens)
        self.pages = result.rest
        self.rest = result.pages
