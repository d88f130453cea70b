class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


class Box:
    x = 0


def go(a, b, c):
    with a:
        c()
        b.x = 7
    return b.x
