def f(n):
    class Cfg:
        pass

    x: Cfg = _more(n=n)
    return x


def _more(*, n):
    x = n + 1
    return x
