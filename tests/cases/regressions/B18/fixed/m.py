class Base:
    def after_warmup(self):
        pass


class Backend(Base):
    def __init__(self):
        self.warm = 0

    def after_warmup(self):
        self.warm += 1


class Both(Base):
    def __init__(self, *bs):
        self.bs = bs

    def after_warmup(self):
        for b in self.bs:
            b.after_warmup()
