from srv.runner import Runner


class Draft(Runner):
    def width(self):
        return super().width() * 10
