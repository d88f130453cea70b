from srv.slots import slots


class Runner:
    def __init__(self, size):
        self.size = size

    def slots(self, used, spare=0):
        return slots(used, size=self.size)
