def first_free(slots, probe):
    states = []
    for slot in slots:
        states.append(probe(slot))
    return any(states)
