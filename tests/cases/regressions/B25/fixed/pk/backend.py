from pk.key import Key


class Backend:
    __module__ = "pk.runner"
    key = Key
