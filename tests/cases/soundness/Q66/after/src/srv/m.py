class Tape:
    def __init__(self):
        self.at = 0

    def __delitem__(self, key):
        self.at += 7

    def run(self):
        at = self.at
        del self["a"]
        return f"at {at}"
