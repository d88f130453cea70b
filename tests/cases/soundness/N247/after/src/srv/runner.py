from srv.urls import url


class Runner:
    def __init__(self, args):
        self.args = args

    def url(self, path):
        return url(path, host=self.args.host, port=self.args.port)
