from srv.runner import Runner


class Draft(Runner):
    def _width(self):
        return super()._width() * 10
