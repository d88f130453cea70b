def run(n):
    num_layers = n * 2
    return f"{num_layers=}"
