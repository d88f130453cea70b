class Runner:
    def __init__(self):
        self.out = []

    def run(self, n, ready):
        if not ready:
            return None
        for step in range(n):
            self.out.append(step)
        return len(self.out)
