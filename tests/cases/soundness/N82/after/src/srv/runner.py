from srv.clock import total


def run():
    return total()
