from dataclasses import dataclass


@dataclass(frozen=True)
class SampleOptions:
    count: int = 1
    stop: str = "."


def sample(prompt, options):
    return prompt * options.count + options.stop
