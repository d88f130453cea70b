def run(xs):
    bound = 2
    return list(filter(lambda x: x > bound, xs))
