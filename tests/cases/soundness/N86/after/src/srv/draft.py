from srv.build import build
from srv.runner import Runner


class Draft(Runner):
    def _build(self, depth):
        return build("draft", depth)
