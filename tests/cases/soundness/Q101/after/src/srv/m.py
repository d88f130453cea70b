def make():
    def advance(value):
        return value + 1

    return advance


def run():
    return make().__name__
