class Base:
    def finish(self):
        self.lin = self.w

    def load(self, w):
        self.w = w
        self.finish()


class Sib(Base):
    def load(self, w):
        self.w = w
        self.finish()
