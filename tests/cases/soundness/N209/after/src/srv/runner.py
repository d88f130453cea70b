class Runner:
    def run(self, n):
        return n + 1
