def sizes(count, *, self_unit, sizes):
    from m import unit

    return [unit * k for k in range(self_unit)], sizes[:count]
