FACTOR = 1


def grow():
    global FACTOR
    FACTOR = 10


def run(items):
    factor = FACTOR
    scaled = (each * factor for each in items)
    grow()
    return list(scaled)
