def number() -> int:
    from srv import words

    return words.X


class Config:
    words: object = [1, 2]
    size = len(words)


def shown() -> tuple[object, int]:
    return Config.words, Config.size
