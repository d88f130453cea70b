class A:
    @property
    def p(self):
        return self._p
    @p.setter
    def p(self, v):
        self._p = v * 2
    def f(self, v):
        self.p = v
        return self.p
