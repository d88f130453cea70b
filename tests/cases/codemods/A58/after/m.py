class T:
    pass


class Box[S]:
    def __init__(self, items: list[S]):
        self.items = items
