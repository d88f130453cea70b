from srv.m import Board


class Loud(Board):
    def _calc(self):
        return 4
