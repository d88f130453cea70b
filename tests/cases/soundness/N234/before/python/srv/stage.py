from enum import Enum


class Stage(Enum):
    WAIT = 0
    RUN = 1


def parse(text):
    return Stage[text]
