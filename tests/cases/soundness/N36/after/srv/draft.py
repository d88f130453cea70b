from srv.runner import Runner


class Draft(Runner):
    def width(self):
        return self.size * 10
