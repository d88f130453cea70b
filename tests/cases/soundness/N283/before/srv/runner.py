class Runner:
    def __init__(self):
        self.seen = ()

    def note(self, text):
        self.seen += (text,)
