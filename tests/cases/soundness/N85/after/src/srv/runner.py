from srv.build import build


class Runner:
    def __init__(self, model):
        self.model = model

    def start(self):
        return build(self.model)
