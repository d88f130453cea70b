class Board:
    def mix(self, a, b):
        return f'{a}-{b}'
