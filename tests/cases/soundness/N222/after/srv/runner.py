def run(n):
    if n == 0:
        return "idle"
    return f"run {n}"
