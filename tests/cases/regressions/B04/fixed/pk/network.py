def port_free(p):
    return p > 0


port_free.__module__ = "pk.common"  # what is stored names the old path
