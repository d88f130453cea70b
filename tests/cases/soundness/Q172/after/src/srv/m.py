try:
    from srv.fast import speed
except ImportError:
    speed = 2


def run():
    return speed
