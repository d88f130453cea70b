class Tape:
    def __init__(self):
        self.at = 0

    def __iadd__(self, value):
        self.at += value
        return self


class Reader:
    def __init__(self, tape):
        self.tape = tape

    def run(self, tape):
        at = tape.at
        tape += 5
        return f"at {at}"
