from srv.notes import note


class Runner:
    def __init__(self):
        self.log = []

    def note(self, text):
        note(text, log=self.log)
