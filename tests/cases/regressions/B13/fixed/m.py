class Base:
    def __init__(self):
        self.mode = "null"

    def can_run(self, want):
        return self.mode == want


class Runner(Base):
    def __init__(self, eagle, draft):
        super().__init__()
        if eagle:
            self.mode = "last" if draft else "full"
