"""What an operation runs without a call: methods of the object that is added, asked, indexed, gone through or shown.

Each pair reads an attribute before such an operation and after it. The method writes the attribute, so that no pair is
the same. Like test_kernel_parts.py: where `tests.power` finds a check that could go missing unseen, its pair belongs
here."""

from __future__ import annotations

import pytest

from codemods.verify.certificate import examine
from codemods.verify.chain import checks
from tests.verify.test_kernel_more import module_change

_BOX = """
class Box:
    def __init__(self):
        self.n = 0

    def {method}(self, *given):
        self.n += 1
        return {result}


def use(*given, **named):
    print(*given)


def f(box{type}, other):
"""
_ANY = "iter([1, 2])"
# The method, what it returns, the statements in between.
OPERATIONS = [
    ("__iadd__", "self", "b = box\nb += 1"),
    ("__iadd__", "self", "box, other = other, box\nother += 1\nbox, other = other, box"),
    ("__radd__", "1", "y = 1\ny += box"),
    ("__radd__", "1", "use(1 + box)"),
    ("__neg__", "1", "use(-box)"),
    ("__lt__", "True", "use(box < other)"),
    ("__lt__", "True", "use(1 < box < 3)"),
    ("__eq__", "True", "if other == box:\n    use(1)"),
    ("__contains__", "True", "use(other in box)"),
    ("__contains__", "True", "if other in box:\n    use(1)"),
    ("__contains__", "True", "if other not in box:\n    use(1)"),
    ("__iter__", _ANY, "use(other in box)"),
    ("__bool__", "True", "if box:\n    use(1)"),
    ("__bool__", "True", "if (y := box):\n    use(1)"),
    ("__bool__", "True", "while box:\n    use(1)\n    break"),
    ("__bool__", "True", "use(1 if box else 2)"),
    ("__bool__", "True", "use(box and other)"),
    ("__bool__", "True", "use(other or box or 1)"),
    ("__bool__", "True", "use(not box)"),
    ("__bool__", "True", "assert box"),
    ("__bool__", "True", "use([y for y in other if box])"),
    ("__len__", "3", "match box:\n    case [y]:\n        use(3)"),
    ("__eq__", "False", "match box:\n    case 1:\n        use(3)"),
    ("__getitem__", "True", "use(box[1])"),
    ("__getitem__", "1", "box[1] += 2"),
    ("__setitem__", "1", "box[1] = 2"),
    ("__delitem__", "1", "del box[1]"),
    ("__hash__", "1", "use({box: 1})"),
    ("__hash__", "1", "use({box})"),
    ("__hash__", "1", "use(other[box])"),
    ("__index__", "1", "use(other[box:])"),
    ("__format__", "''", "use(f'{box}')"),
    ("__str__", "''", "use('%s' % box)"),
    ("__str__", "''", "use('%s %s' % (1, box))"),
    ("__str__", "''", "use(str(box))"),
    ("__iter__", _ANY, "for y in box:\n    use(y)"),
    ("__iter__", _ANY, "y, z = box"),
    ("__iter__", _ANY, "y, *z = box"),
    ("__iter__", _ANY, "use(*box)"),
    ("__iter__", _ANY, "use([y for y in box])"),
    ("__iter__", _ANY, "use({y: 1 for y in box})"),
    ("__iter__", _ANY, "use([y for z in other for y in box])"),
    ("__iter__", _ANY, "use(all(y for y in box))"),
    ("__iter__", _ANY, "use(list(box))"),
    ("keys", "[]", "use(**box)"),
    ("keys", "[]", "use({**box})"),
    ("__enter__", "self", "with box:\n    use(1)"),
    ("__call__", "self", "box()"),
    ("write", "1", "list(map(box.write, [1]))"),
    ("write", "1", "use(*map(box.write, [1]))"),
    ("write", "1", "other(box.write)"),
    ("write", "1", "other(k=box.write)"),
]


def pair(method: str, result: str, operation: str, known: str = ": Box") -> tuple[str, str]:
    """known: what the signature says of the object."""
    head = _BOX.format(method=method, result=result, type=known)
    lines = "".join(f"    {line}\n" for line in operation.split("\n"))
    return f"{head}    x = box.n\n{lines}    return use(x)\n", f"{head}{lines}    return use(box.n)\n"


HANDED = [pair(*each) for each in OPERATIONS]
# A call that gets the object may do anything with it, and the class is not known by another name.
_MAY_CALL = ("box()", "str(box)", "list(box)", "use(**box)", "b = box", "other, box")
# The class has no such method: what is certified then shows that it is the method that is minded.
NOT_HANDED = [
    (text.replace("box.write", "box.n"), now.replace("box.write", "box.n"))
    for text, now in [pair("write", "1", "print(box.write)")]
] + [
    pair("write", result, operation)
    for method, result, operation in OPERATIONS
    if method != "write" and not any(each in operation for each in _MAY_CALL)
]


@pytest.mark.parametrize("known", [": Box", ""])
@pytest.mark.parametrize(("method", "result", "operation"), OPERATIONS)
def test_what_an_operation_writes_is_read_before_it_and_not_after(
    method: str, result: str, operation: str, known: str
) -> None:
    ledger = examine(module_change(*pair(method, result, operation, known)), *checks(None, None))
    assert ledger.residue or ledger.problems


@pytest.mark.parametrize(("before", "after"), NOT_HANDED)
def test_an_object_without_such_a_method_does_nothing(before: str, after: str) -> None:
    ledger = examine(module_change(before, after), *checks(None, None))
    assert not ledger.residue and not ledger.problems
