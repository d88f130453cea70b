class Runner:
    def run(self, steps):
        total = 0
        names = []
        for step in steps:
            total += step
            names.append(str(step))
        return total, names
