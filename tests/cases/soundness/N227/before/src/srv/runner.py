class Base:
    def setup(self, size):
        self.seen = [size]


class Runner(Base):
    def setup(self, size):
        super().setup(size)
        self.seen.append("runner")
