PAGE = 16


class Runner:
    def pages(self, tokens):
        return tokens // PAGE
