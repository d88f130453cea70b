from operator import attrgetter

from srv.runner import Runner


def ordered(loads):
    runners = sorted((Runner(n) for n in loads), key=attrgetter("load"))
    return [runner.load for runner in runners]
