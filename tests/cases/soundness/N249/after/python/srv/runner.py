from srv.notes import reset


class Runner:
    def __init__(self):
        self.log = ["old"]

    def reset(self, text):
        reset(text, log=self.log)
