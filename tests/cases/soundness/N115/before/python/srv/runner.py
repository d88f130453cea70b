class Runner:
    def __init__(self):
        self.out = []

    def run(self, n, ready):
        if ready:
            for step in range(n):
                self.out.append(step)
            return len(self.out)
        else:
            return None
