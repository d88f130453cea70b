def run_steps(n):
    return n + 1
