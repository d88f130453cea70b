import pkgutil


def names():
    return sorted(each.name for each in pkgutil.iter_modules(__path__))
