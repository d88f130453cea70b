from srv import words


def number() -> int:
    return words.X


class Config:
    name = words.__name__
    words: object = [1, 2]


def shown() -> tuple[object, str]:
    return Config.words, Config.name
