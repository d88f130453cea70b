class Box:
    def __init__(self) -> None:
        self._width = 1

    @property
    def width(self) -> int:
        half = self._width
        return half * 2

    @width.setter
    def width(self, value: int) -> None:
        half = value // 2
        self._width = half + 1
