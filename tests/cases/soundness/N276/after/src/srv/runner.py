from srv.sizing import split


def run(n):
    pages, rest = split(n)
    return f"{pages} pages, {rest} left"
