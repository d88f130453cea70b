class CoordEnt:
    def __init__(self, log):
        self.log = log
        log.append("subscribe")

    def added(self):
        pass


class Ent(CoordEnt):
    def added(self):
        super().added()
        self.log.append("own")
