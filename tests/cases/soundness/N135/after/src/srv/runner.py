def run(n):
    if n == 0:
        return "idle"
    size = n * 2
    return f"run {size}"
