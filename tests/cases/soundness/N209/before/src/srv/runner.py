class Runner:
    def run(self, n):
        return n + 1

    def _run_slowly(self, n):
        total = 0
        for _ in range(n):
            total += 1
        return total + 1
