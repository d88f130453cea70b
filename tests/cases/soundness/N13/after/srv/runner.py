from srv.limits import clip


class Runner:
    def batch(self, n):
        clip = clip(n)
        return clip
