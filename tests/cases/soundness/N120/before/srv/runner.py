def busy(waiting):
    if waiting:
        return True
    return False
