def do_run(n):
    return n + 1
