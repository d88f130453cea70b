from srv.runner import Runner


class Draft(Runner):
    def plan(self):
        return self.width() + 1
