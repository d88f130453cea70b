def run():
    def step(value):
        return value + 1

    return step.__name__, step(1)
