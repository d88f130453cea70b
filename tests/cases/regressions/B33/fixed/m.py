import gc


def _freeze():
    gc.collect()
    gc.freeze()


def capture(work):
    _freeze()
    try:
        return work()
    finally:
        gc.unfreeze()
