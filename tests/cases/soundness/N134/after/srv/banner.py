BANNER = """one
two"""


def size():
    return len(BANNER)
