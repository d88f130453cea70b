def run(items):
    scaled = _scaled(items, 1)
    factor = 10
    return list(scaled), factor


def _scaled(items, factor):
    return (each * factor for each in items)
