from srv.mixins import Logs, Sizes


class Runner(Logs, Sizes):
    def run(self, n):
        return self.adjust(n)
