from srv.session import name_of


def run(n):
    return name_of(n)


def tag(n):
    return f"<{n}>"
