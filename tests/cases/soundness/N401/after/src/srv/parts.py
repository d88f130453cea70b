def part_0(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "0"


def part_1(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "1"


def part_2(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "2"


def part_3(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "3"


def part_4(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "4"


def part_5(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "5"


def part_6(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "6"


def part_7(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "7"


def part_8(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "8"


def part_9(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "9"


def part_10(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "10"


def part_11(word: str) -> str:
    text = word
    return text.strip() + text.upper() + str(len(text)) + "11"


def polled(rounds: int) -> list[int]:
    seen = []
    tries = 0
    while rounds:
        seen.append(0)
        tries = 1
        rounds -= 1
    return seen
