class Runner:
    def run(self, waiting):
        n = 0
        if self._is_batch(waiting):
            return f"batch of {n}"
        return "single"

    def _is_batch(self, waiting):
        return (n := len(waiting)) > 1
