import handlers
import registry


def kinds():
    return sorted(registry.KINDS)
