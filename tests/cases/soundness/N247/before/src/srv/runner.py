class Runner:
    def __init__(self, args):
        self.args = args

    def url(self, path):
        return f"{self.args.host}:{self.args.port}/{path}"
