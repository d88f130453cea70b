class Cache:
    def __init__(self):
        self.known = {"a": None}

    def get(self, key, level):
        if level == 0:
            return "off"
        return self._look_up(key)

    def _look_up(self, key):
        if key in self.known:
            return self.known[key]
        return "computed"
