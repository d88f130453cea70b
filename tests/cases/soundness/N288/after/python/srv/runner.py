from srv.calls import call


class Runner:
    def __init__(self, model):
        self.model = model

    def call(self, *args, **options):
        return call(*args, model=self.model, **options)
