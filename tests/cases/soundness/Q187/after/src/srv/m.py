def run(xs):
    x = 2
    return list(filter(lambda x: x > x, xs))
