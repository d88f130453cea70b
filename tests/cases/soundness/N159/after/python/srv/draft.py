from srv.runner import Runner


class Draft(Runner):
    PAGE = 1
