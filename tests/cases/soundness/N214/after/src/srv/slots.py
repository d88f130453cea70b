def free_slots(*, slots):
    return slots - 1
