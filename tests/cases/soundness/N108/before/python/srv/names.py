def tag(n):
    return f"<{n}>"


def double(n):
    return n * 2
