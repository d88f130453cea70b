from srv.marks import mark


def run(n):
    return mark(n)
