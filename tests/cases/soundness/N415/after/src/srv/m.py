class Pattern:
    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: "Pattern") -> bool:
        return len(self.text) > len(other.text)


def pattern_order() -> list[str]:
    found = [Pattern("a"), Pattern("bcd"), Pattern("ef"), Pattern("")]
    assert Pattern("b") < Pattern("")
    return [each.text for each in sorted(found)]
