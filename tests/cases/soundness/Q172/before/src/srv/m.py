try:
    from srv.fast import speed
except ImportError:
    speed = 1


def run():
    return speed
