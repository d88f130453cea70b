from srv.build import build


class Runner:
    def start(self, ids):
        return self._build(next(ids))

    def _build(self, n):
        return build(n, n)
