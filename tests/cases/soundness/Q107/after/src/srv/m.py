def run():
    def step(value):
        return value + 1

    return step.__name__
