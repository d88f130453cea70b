from srv.runner import MAX_BATCH


def room(used):
    return MAX_BATCH - used
