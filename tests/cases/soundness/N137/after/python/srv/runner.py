ACTIONS = {"stop": "_halt", "go": "_resume"}


class Runner:
    def call(self, action):
        return getattr(self, ACTIONS[action])()

    def _resume(self):
        return "on"
