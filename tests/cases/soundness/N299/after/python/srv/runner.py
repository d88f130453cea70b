def run(n):
    if n == 0:
        return "idle"
    if n == 1:
        return "single"
    return "batch"
