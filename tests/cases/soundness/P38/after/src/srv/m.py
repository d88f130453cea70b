class K:
    def start(self):
        self.v = 1

    def f(self):
        try:
            v = self.v
        except AttributeError:
            return 'missing'
        else:
            return v
