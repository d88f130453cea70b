def admit(load, limit):
    if load >= limit:
        return "reject"
    return "admit"
