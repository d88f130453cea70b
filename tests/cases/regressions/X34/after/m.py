def first_free(slots, probe):
    states = (probe(slot) for slot in slots)
    return any(states)
