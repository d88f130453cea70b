class Tape:
    def __init__(self):
        self.at = 0

    def __delitem__(self, key):
        self.at += 7

    def run(self):
        del self["a"]
        return f"at {self.at}"
