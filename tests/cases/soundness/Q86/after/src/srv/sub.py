from srv.m import Helper


class Loud(Helper):
    def __init__(self, runner, mark):
        super().__init__(runner)
        self.mark = mark
