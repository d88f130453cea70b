from srv.build import build


class Runner:
    def __init__(self, model):
        self.model = model

    def start(self):
        return self._build(1)

    def _build(self, depth):
        return build(self.model, depth)
