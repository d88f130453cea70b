from srv.pages import num_pages


class Runner:
    def __init__(self, tokens, page):
        self.tokens = tokens
        self.page = page

    def start(self):
        return num_pages(0, tokens=self.tokens, page=self.page)

    def restart(self, spare):
        return num_pages(spare, tokens=self.tokens, page=self.page) + 1
