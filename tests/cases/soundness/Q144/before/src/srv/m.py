def run(items):
    total = 0
    for each in items:
        total = total * 10 + each
    text = f'sum {total}'
    return text
