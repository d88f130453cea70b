from types import SimpleNamespace


class Runner:
    def __init__(self, host, draft_host):
        self.args = SimpleNamespace(host=host)
        self.draft_args = SimpleNamespace(host=draft_host)

    def url(self):
        return f"{self.args.host}/v1"
