def run(items):
    total = 0
    for each in items:
        total += each
    text = f'sum {total}'
    return text
