class Runner:
    def __init__(self, limit):
        self.__limit = limit

    def room(self, used):
        return room(self, used)


def room(runner, used):
    return runner.__limit - used
