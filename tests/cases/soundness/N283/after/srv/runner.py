class Runner:
    def __init__(self):
        self.seen = ()

    def note(self, text):
        note(text, seen=self.seen)


def note(text, *, seen):
    seen += (text,)
