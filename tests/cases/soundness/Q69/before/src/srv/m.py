class Tape:
    def __init__(self):
        self.at = 0

    def __eq__(self, other):
        self.at += 1
        return True

    def run(self, other):
        if self == other:
            return f"at {self.at}"
        return "other"
