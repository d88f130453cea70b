from srv.build import build


class Runner:
    def __init__(self, model):
        self.model = model

    def start(self):
        return self._build()

    def _build(self, depth=2):
        return build(self.model, depth)
