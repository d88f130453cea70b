def find(steps, wanted):
    found = []
    for step in steps:
        if step == wanted:
            found.append("hit")
            break
    else:
        found.append("miss")
    return found
