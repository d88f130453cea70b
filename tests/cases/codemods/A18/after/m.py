def ref(n):
    return _ref(n=n)


def _ref(*, n):
    return f"#{n} # {n!r}"
