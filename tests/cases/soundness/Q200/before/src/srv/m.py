def run(xs):
    return xs.pop() + xs.pop()
