from srv.build import build


class Runner:
    def start(self, ids):
        return build(next(ids), next(ids))
