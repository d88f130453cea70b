def free_slots(*, size, used):
    free = size - used
    return max(free, 0)
