from srv.runner import Runner


class Draft(Runner):
    def __init__(self):
        super().__init__(3)
        self.size = 10
