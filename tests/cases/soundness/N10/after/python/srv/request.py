class Request:
    def __init__(self, tokens):
        self.tokens = tokens

    def pages(self):
        return self.size() // 2

    def size(self):
        return self.tokens
