from srv.args import Args


class Runner:
    def __init__(self, args: Args) -> None:
        self.args = args

    def pages(self, tokens):
        return tokens // self.args.page_size
