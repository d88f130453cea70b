class Base:
    def __init_subclass__(cls):
        cls.order = [each for each in vars(cls) if not each.startswith("__")]
