class Runner:
    def __init__(self, tokens):
        self.tokens = tokens
        self.ready = False

    def setup(self):
        self._size_pages()
        self._name_pages()
        self._check_pages()

    def _size_pages(self):
        self.pages = self.tokens // 16
        if self.pages < 4:
            self.pages = 4

    def _name_pages(self):
        self.names = []
        for page in range(self.pages):
            self.names.append(f"page {page}")

    def _check_pages(self):
        if self.names:
            self.ready = True
