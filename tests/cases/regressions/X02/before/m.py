class Store:
    name = "store"

    def __init__(self, log):
        log.append("open " + self.name)


class Disk(Store):
    def __init__(self, log, name):
        self.name = name
        super().__init__(log)
