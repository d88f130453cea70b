from pk.network import port_free  # the old path stays open
