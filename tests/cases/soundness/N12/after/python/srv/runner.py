from srv.choice import best


def pick(names):
    return best(names)
