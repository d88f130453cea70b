class Base:
    def size(self):
        return 1

    def area(self):
        return self.size() * 10


def child_size():
    return 2


class Child(Base):
    def size(self):
        return child_size()
