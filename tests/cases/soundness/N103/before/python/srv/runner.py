def run(n):
    from srv.session import name_of

    return name_of(n)


def tag(n):
    return f"<{n}>"
