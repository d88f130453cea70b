class K:
    def start(self):
        self.v = 1

    def f(self):
        try:
            pass
        except AttributeError:
            return 'missing'
        else:
            return self.v
