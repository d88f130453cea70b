ready = False


def boot():
    _mark()
    return "ok"


def _mark():
    global ready
    ready = True
