class Runner:
    def __init__(self, tokens, page):
        self.tokens = tokens
        self.page = page

    def start(self):
        return self._num_pages(0)

    def restart(self, spare):
        return self._num_pages(spare) + 1

    def _num_pages(self, spare):
        return -(-self.tokens // self.page) + spare
