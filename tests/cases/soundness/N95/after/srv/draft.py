from srv.runner import Runner


class Draft(Runner):
    def after_step(self):
        return 10
