class Runner:
    def call(self, action):
        return {"stop": self._halt}[action]()

    def _halt(self):
        return getattr(self, "reason", "off")

    def _drain(self):
        return "drained"


def run():
    _drain = 3
    return _drain
