class Runner:
    def __init__(self, args):
        self.args = args

    def pages(self, tokens):
        return tokens // self.args.page_size
