def commands(cls):
    return [each for each in vars(cls) if not each.startswith("__")]
