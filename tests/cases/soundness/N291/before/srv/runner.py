class Runner:
    def run(self, steps):
        return list(map(self.double, steps))

    @staticmethod
    def double(n):
        return n * 2
