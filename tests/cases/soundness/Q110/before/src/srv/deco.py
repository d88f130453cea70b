def fields(cls):
    cls.names = list(cls.__annotations__)
    return cls
