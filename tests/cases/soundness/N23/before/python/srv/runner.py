class Base:
    def setup(self, size):
        self.seen = ["base", size]


class Runner(Base):
    def setup(self, size):
        super().setup(size)
        self.seen.append("runner")
        self.size = size * 2
