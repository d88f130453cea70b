class A:
    x = 0
    def f(self, g):
        s = 0
        for i in g:
            s += i
        self.x = 1
        return s
