def reserve(log):
    log.append("bind")


def _listen(log):
    log.append("listen")


def serve(log):
    reserve(log)
    log.append("load model")
    _listen(log)
