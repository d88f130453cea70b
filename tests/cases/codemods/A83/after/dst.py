def lookup(key):
    from m import TABLE

    return TABLE.get(id(key), "miss")
