class T:
    def __init__(self):
        self.k = 1

    def walk(self, n):
        if n:
            self.walk(n.left)
            return self.k
        self.k = 2
        return 0
