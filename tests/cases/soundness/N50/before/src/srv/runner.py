from srv.args import Args


class Runner:
    def __init__(self, args: Args) -> None:
        self.args = args
        self.page_size = args.page_size

    def pages(self, tokens):
        return tokens // self.page_size
