class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.ready = False

    def setup(self):
        self.pages = self.tokens // 16
        if self.pages < 4:
            self.pages = 4
        self.names = []
        for page in range(self.pages):
            self.names.append(f"page {page}")
        if self.names:
            self.ready = True
