LOG = []


class Base:
    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)
