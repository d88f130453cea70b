class Pool:
    def __init__(self):
        self.known = []

    def add(self, name):
        self.known.append(name)
