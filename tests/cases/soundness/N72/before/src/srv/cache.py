class Cache:
    def __init__(self):
        self.known = {"a": None}

    def get(self, key):
        if key in self.known:
            return self.known[key]
        return "computed"
