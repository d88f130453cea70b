def make():
    class Advance:
        pass

    return Advance().__class__.__name__
