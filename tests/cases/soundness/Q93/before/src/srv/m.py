FACTOR = 1


def grow():
    global FACTOR
    FACTOR = 10


def run(items):
    scaled = (each * FACTOR for each in items)
    grow()
    return list(scaled)
