class Root:
    @staticmethod
    def kind():
        return "root"


class Left(Root):
    pass


def kind():
    return "right"


class Right(Root):
    kind = staticmethod(kind)


class Leaf(Left, Right):
    def go(self):
        return kind()
