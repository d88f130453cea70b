from typing import get_type_hints


def parse(function, text):
    return get_type_hints(function)["value"](text)
