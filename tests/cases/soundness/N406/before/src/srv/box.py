class Box:
    def __init__(self) -> None:
        self._width = 1

    @property
    def width(self) -> int:
        size = self._width
        return size * 2

    @width.setter
    def width(self, value: int) -> None:
        size = value // 2
        self._width = size
