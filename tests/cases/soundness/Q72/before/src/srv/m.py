class Tape:
    def __init__(self):
        self.at = 0

    def __contains__(self, value):
        self.at += 1
        return True


class Reader:
    def __init__(self, tape):
        self.tape = tape

    def run(self):
        found = 5 in self.tape
        return f"{found} at {self.tape.at}"
