class Base:
    def name(self):
        return "base"


class Cached(Base):
    def name(self):
        return "cached " + super().name()

    def label(self):
        return super().name()


class Runner(Cached):
    pass
