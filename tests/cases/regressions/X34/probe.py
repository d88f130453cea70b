from m import first_free

seen = []


def probe(slot):
    seen.append(slot)
    return True


print(first_free([1, 2], probe), seen)
