class Key:
    __module__ = "pk.runner"
