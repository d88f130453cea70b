class Runner:
    def __init__(self):
        self.out = []

    def start(self):
        self.out.append("load")
        self.out.append("warm")
        self.out.append("start")

    def restart(self):
        self.out.append("stop")
        self.out.append("load")
        self.out.append("warm")
