def run(items):
    total = _sum(items)
    text = f'sum {total}'
    return text


def _sum(items):
    total = 0
    for each in items:
        total += each
        return total
    return total
