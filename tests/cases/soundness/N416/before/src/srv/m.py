from srv import words


def number() -> int:
    return words.X


class Config:
    words: object = [1, 2]
    size = len(words)


def shown() -> tuple[object, int]:
    return Config.words, Config.size
