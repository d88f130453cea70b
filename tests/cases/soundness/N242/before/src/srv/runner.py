def run(n, eager):
    return n if eager else n + 1


def main():
    return run(1, True)
