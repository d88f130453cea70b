class Tape:
    def __init__(self):
        self.at = 0

    def __iter__(self):
        self.at += 1
        return iter((1, 2))


class Reader:
    def __init__(self, tape):
        self.tape = tape

    def run(self):
        at = self.tape.at
        a, b = self.tape
        return f"{a}{b} at {at}"
