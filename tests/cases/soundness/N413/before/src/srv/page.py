def picked(words: list[str], kinds: tuple[str, ...] = (), least: int = -1, order=sorted) -> list[str]:
    return [each for each in order(words) if each not in kinds and len(each) > least]


def used() -> list[str]:
    return picked(["b", "a"])
