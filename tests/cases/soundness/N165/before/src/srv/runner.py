class Runner:
    def run(self, n):
        steps = n * 2
        steps += 1
        return steps
