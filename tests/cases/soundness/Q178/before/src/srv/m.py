def run(a, b):
    if a and b:
        return 1
    return 2
