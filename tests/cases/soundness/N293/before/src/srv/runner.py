class Runner:
    def __init__(self):
        self.cnt = 4

    def label(self):
        return f"{self.cnt} steps" if hasattr(self, "cnt") else "new"
