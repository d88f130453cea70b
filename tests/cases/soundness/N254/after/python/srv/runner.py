class Runner:
    def __init__(self):
        self.out = []

    def setup(self):
        self._load()
        self._capture()

    def _load(self):
        self.out.append("load")

    def _capture(self):
        self.out.append("capture")
        self.out.append("serve")
