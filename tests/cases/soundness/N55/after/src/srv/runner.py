from srv.sizing import count_pages


class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.pages = 7

    def setup(self):
        result = count_pages(tokens=self.tokens)
        self.pages = result.pages
