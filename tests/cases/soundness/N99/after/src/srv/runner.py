def run(n):
    num_layers = n * 2
    return f"depth={num_layers!r}"
