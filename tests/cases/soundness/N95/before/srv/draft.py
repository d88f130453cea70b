from srv.runner import Runner


class Draft(Runner):
    def on_step(self):
        return 10
