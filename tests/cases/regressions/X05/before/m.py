def shout(names):
    calls = [lambda name=name: "<" + name + ">" for name in names]
    return [call() for call in calls]
