LOG = []


class Counted:
    def __get__(self, owner, kind):
        LOG.append("get")
        return 1


class Board:
    level = Counted()

    def run(self):
        return f"{self.level} {self.level}"
