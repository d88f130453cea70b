def _biased(logits, b):
    return [x + b for x in logits]


def bias(logits, b):
    logits[:] = _biased(logits, b)


def step(logits):
    bias(logits, 1)
    return max(logits)
