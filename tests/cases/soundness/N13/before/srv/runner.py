class Runner:
    @staticmethod
    def clip(n):
        return min(n, 8)

    def batch(self, n):
        clip = Runner.clip(n)
        return clip
