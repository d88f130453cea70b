from m import load

seen = []


def read(name):
    seen.append(name)
    return name


print(load(['a', 'b'], lambda name: name == 'a', read), seen)
