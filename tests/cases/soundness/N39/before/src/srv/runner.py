class Runner:
    def __init__(self):
        self._last = 0

    @property
    def fresh_id(self):
        self._last += 1
        return self._last

    def pair(self):
        return [self.fresh_id, self.fresh_id]
