class Session:
    def __init__(self, name):
        self.name = name

    def tag(self):
        return f"<{self.name}>"

    def merge(self, other):
        return self.tag() + other.tag()
