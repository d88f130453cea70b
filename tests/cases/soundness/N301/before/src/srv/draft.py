from srv.runner import Runner


class Draft(Runner):
    def title(self):
        return f"draft {self.rank}"
