def load(table, key):
    try:
        return table[key]
    except IndexError:
        return None
