class Runner:
    def __init__(self, limit):
        self.__limit = limit

    def room(self, used):
        return room(limit=self.__limit, used=used)


def room(*, limit, used):
    return limit - used
