class Runner:
    def run(self, waiting):
        n = 0
        if (n := len(waiting)) > 1:
            return f"batch of {n}"
        return "single"
