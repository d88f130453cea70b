class Tape:
    def __init__(self):
        self.at = 0

    def __add__(self, value):
        self.at += value
        return self.at * 100


class Reader:
    def __init__(self, tape):
        self.tape = tape

    def run(self):
        at = self.tape.at
        total = self.tape + 5
        return f"{total} at {at}"
