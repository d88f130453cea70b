class Runner:
    def __init__(self):
        self.out = []

    def start(self):
        self.out.append("start")
        self.out.append("ready")

    def stop(self):
        self.out.append("stop")
