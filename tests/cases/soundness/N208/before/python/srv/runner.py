class Runner:
    PAGE = 16

    def pages(self, tokens):
        return tokens // self.PAGE
