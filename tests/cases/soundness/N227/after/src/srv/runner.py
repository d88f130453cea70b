class Base:
    def setup(self, size):
        self.seen = [size]


def setup_base(self, size):
    super().setup(size)
    self.seen.append("runner")


class Runner(Base):
    def setup(self, size):
        setup_base(self, size)
