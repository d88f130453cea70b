def run(xs):
    limit = 2
    return list(filter(lambda x: x > limit, xs))
