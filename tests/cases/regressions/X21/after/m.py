import registry


def _names(table):
    return sorted(table)


def kinds():
    return _names(registry.KINDS)
