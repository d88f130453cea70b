def admit(load, limit):
    if load < limit:
        return "admit"
    return "reject"
