def run(steps):
    def double(step):
        return step * 2

    return [double(step) for step in steps]
