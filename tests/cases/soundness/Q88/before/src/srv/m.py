def run(items):
    factor = 1
    scaled = (each * factor for each in items)
    factor = 10
    return list(scaled), factor
