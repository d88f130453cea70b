from pk.network import port_free
