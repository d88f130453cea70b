from srv.mixins import Logs, Sizes


class Runner(Logs, Sizes):
    def run(self, n):
        n = n * 2
        return n + 1
