SOURCES = ["kern/a.cu"]


def names():
    return [path.rsplit("/", 1)[-1] for path in SOURCES]
