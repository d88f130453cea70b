def load(table, key):
    try:
        return table[key]
    except LookupError:
        return None
