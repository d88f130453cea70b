from srv.build import build


class Runner:
    builds = 0

    def __init__(self, model):
        self.model = model

    def start(self):
        return self._build(1)

    def _build(self, depth):
        self.builds += 1
        return build(self.model, depth)
