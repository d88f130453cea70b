from srv.m import *


class Key:
    n = 3

    def __hash__(self):
        return self.n

    def __eq__(self, other):
        return self.n == other


print(len(go(Key(), lambda a: setattr(a, 'n', 4))))
