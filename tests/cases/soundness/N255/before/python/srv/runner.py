class Runner:
    def __init__(self):
        self.out = []

    def setup(self):
        self.out.append("load")
        self.out.append("warm")
        self.out.append("capture")
        self.out.append("serve")
