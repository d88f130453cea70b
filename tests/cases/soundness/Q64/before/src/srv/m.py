class Tape:
    def __init__(self):
        self.at = 0

    def __setitem__(self, key, value):
        self.at += value


class Reader:
    def __init__(self, tape):
        self.tape = tape

    def run(self):
        self.tape["a"] = 5
        return f"at {self.tape.at}"
