class ModelRunner:
    def __init__(self, n):
        self.n = n


class Draft(ModelRunner):
    pass
