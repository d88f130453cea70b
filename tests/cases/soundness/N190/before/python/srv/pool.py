class Pool:
    known = []

    def add(self, name):
        self.known.append(name)
