class Geo:
    class Point:
        __qualname__ = "Point"  # older readers know no other path

        def __init__(self, x=0):
            self.x = x


Point = Geo.Point
