def busy(waiting):
    return waiting
