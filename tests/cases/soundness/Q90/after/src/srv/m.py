def run():
    factor = 1
    scale = lambda each: each * factor
    after = 10
    return scale(3), after
