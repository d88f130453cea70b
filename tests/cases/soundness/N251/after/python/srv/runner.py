from srv import limits


class Runner:
    @staticmethod
    def clip(n, cap=8):
        return limits.clip(n, cap)

    def run(self, n):
        return self.clip(n)
