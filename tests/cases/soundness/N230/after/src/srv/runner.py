class Runner:
    def __init__(self, n):
        self.num_running = n
