def run(a, b):
    if a or b:
        return 1
    return 2
