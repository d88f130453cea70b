class Runner:
    def __init__(self, model):
        self.model = model

    def call(self, *args, **options):
        names = sorted(options)
        return f"{self.model}{args}{names}"
