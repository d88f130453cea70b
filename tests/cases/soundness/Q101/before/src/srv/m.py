def make():
    def step(value):
        return value + 1

    return step


def run():
    return make().__name__
