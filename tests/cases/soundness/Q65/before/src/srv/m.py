class Tape:
    def __init__(self):
        self.at = 0

    def __setitem__(self, key, value):
        self.at += value

    def run(self):
        self["a"] = 5
        return f"at {self.at}"
