def test(v):
    return v > 0


class Rule:
    pass


class Probe:
    def test(self, v):
        return "probe"


def run(p):
    return test(1), p.test(1)


OUT = run(Probe())
