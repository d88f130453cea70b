from srv.args import Args
from srv.urls import url


class Runner:
    def __init__(self, args: Args) -> None:
        self.args = args

    def url(self, path):
        return url(path, host=self.args.host, port=self.args.port)
