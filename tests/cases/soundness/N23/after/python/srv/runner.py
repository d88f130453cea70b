class Base:
    def setup(self, size):
        self.seen = ["base", size]


class Runner(Base):
    def setup(self, size):
        self._setup_base(size)
        self.size = size * 2

    def _setup_base(self, size):
        super().setup(size)
        self.seen.append("runner")
