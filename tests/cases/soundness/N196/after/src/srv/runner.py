class Runner:
    def __init__(self):
        self.out = []

    def start(self):
        self._prepare()
        self.out.append("start")

    def restart(self):
        self.out.append("stop")
        self._prepare()

    def _prepare(self):
        self.out.append("load")
        self.out.append("warm")
