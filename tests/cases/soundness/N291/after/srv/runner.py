def double(n):
    return n * 2


class Runner:
    def run(self, steps):
        return list(map(double, steps))
