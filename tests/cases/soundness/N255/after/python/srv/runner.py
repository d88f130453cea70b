class Runner:
    def __init__(self):
        self.out = []

    def setup(self):
        self._capture()
        self._load()

    def _load(self):
        self.out.append("load")
        self.out.append("warm")

    def _capture(self):
        self.out.append("capture")
        self.out.append("serve")
