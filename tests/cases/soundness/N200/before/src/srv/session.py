from srv.runner import MAX


def room(used):
    return MAX - used
