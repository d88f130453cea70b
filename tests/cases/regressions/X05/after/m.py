def _calls(names):
    calls = []
    for name in names:
        def call():
            return "<" + name + ">"
        calls.append(call)
    return calls


def shout(names):
    return [call() for call in _calls(names)]
