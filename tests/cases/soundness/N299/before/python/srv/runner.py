def run(n):
    if n == 0:
        return "idle"
    elif n == 1:
        return "single"
    return "batch"
