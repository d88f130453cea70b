class Runner:
    def run(self, steps, eager):
        if not eager:
            steps = list(reversed(steps))
        return steps
