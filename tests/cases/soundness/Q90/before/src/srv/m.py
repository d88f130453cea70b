def run():
    factor = 1
    scale = lambda each: each * factor
    factor = 10
    return scale(3), factor
