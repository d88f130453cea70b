from srv.runner import Runner


class Draft(Runner):
    def _prepare(self, n):
        return f"draft {n}"
