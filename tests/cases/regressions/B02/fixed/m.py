def _init_weights(log):
    log.append("weights")


def _init_rest(log):
    log.append("pool")
    log.append("capture")


def _join(log):
    log.append("join")


def initialize(log, rejoin):
    _init_weights(log)
    _init_rest(log)
    if rejoin:
        _join(log)
