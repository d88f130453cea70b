from srv.m import Board


class Loud(Board):
    def _text(self, value):
        return f"{value}!"
