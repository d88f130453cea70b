def do_clip(n):
    return min(n, 8)


def run(n):
    return do_clip(n)
