def part_0(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "0"


def part_1(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "1"


def part_2(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "2"


def part_3(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "3"


def part_4(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "4"


def part_5(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "5"


def part_6(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "6"


def part_7(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "7"


def part_8(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "8"


def part_9(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "9"


def part_10(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "10"


def part_11(word: str) -> str:
    t = word
    return t.strip() + t.upper() + str(len(t)) + "11"


def polled(rounds: int) -> list[int]:
    seen = []
    tries = 0
    while rounds:
        seen.append(tries)
        tries = 1
        rounds -= 1
    return seen
