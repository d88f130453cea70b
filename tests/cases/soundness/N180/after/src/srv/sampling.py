from typing import NamedTuple


class SampleOptions(NamedTuple):
    count: int
    stop: str


def sample(prompt, options):
    return prompt * options.count + options.stop
