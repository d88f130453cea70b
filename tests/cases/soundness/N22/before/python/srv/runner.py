class Base:
    def name(self):
        return "base"


class Cached(Base):
    def name(self):
        return "cached " + super().name()


class Runner(Cached):
    def label(self):
        return super().name()
