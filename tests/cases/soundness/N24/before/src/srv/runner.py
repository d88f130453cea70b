class Runner:
    def __init__(self, limit):
        self.__limit = limit

    def room(self, used):
        return self.__limit - used
