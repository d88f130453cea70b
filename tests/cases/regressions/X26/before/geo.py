class Point:
    def __init__(self, x=0):
        self.x = x
