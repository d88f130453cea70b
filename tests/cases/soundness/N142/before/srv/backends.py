class Backend:
    known = []

    def __init_subclass__(cls):
        Backend.known.append(cls.__name__)


class Torch(Backend):
    pass


class Flash(Backend):
    pass


def names():
    return Backend.known
