def now():
    return 0


class A:
    @staticmethod
    def f(t=now()):  # noqa: B008
        return t
