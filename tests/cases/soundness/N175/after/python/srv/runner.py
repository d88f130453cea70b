class Runner:
    def __init__(self):
        self.out = []

    def start(self):
        self.out.append("start")

    def stop(self):
        self.out.append("stop")
        self.out.append("ready")
