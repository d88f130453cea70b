def _call(name):
    def call():
        return "<" + name + ">"
    return call


def shout(names):
    return [call() for call in [_call(name) for name in names]]
