class Request:
    def __init__(self, tokens):
        self.tokens = tokens

    def size(self):
        return self.tokens

    def pages(self):
        return self.size() // 2
