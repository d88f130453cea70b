class Matcher:
    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: "Matcher") -> bool:
        return len(self.text) > len(other.text)


def matcher_order() -> list[str]:
    found = [Matcher("a"), Matcher("bcd"), Matcher("ef"), Matcher("")]
    assert Matcher("b") < Matcher("")
    return [each.text for each in sorted(found)]
