from srv.args import Args


class Runner:
    def __init__(self, args: Args) -> None:
        self.args = args

    def url(self, path):
        return f"{self.args.host}:{self.args.port}/{path}"
