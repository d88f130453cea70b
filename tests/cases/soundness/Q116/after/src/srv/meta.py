def numbered(cls):
    cls.order = [each for each in vars(cls) if not each.startswith("__")]
    return cls
