def run():
    def advance(value):
        return value + 1

    return advance.__name__, advance(1)
