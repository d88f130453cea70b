def run(num_steps, eager=False):
    return num_steps if eager else num_steps + 1
