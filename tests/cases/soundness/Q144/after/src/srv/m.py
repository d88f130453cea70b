def run(items):
    total = _sum(items[::-1])
    text = f'sum {total}'
    return text


def _sum(items):
    total = 0
    for each in items:
        total = total * 10 + each
    return total
