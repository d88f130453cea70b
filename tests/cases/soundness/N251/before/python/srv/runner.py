class Runner:
    @staticmethod
    def clip(n, cap=8):
        return min(n, cap)

    def run(self, n):
        return self.clip(n)
