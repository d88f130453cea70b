from srv.scales import scaled


def run(n):
    return scaled(n)
