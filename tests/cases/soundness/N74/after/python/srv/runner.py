from srv.slots import slots


class Runner:
    def __init__(self, size):
        self.size = size

    def slots(self, used):
        slots(used, size=self.size)
