class A:
    x = 0
    def f(self, g):
        self.x = 1
        s = 0
        for i in g:
            s += i
        return s
