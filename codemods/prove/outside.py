"""Real classes that stand for those that are not in the trees, to be bases of classes that are."""

from __future__ import annotations

from typing import Any

from codemods.prove.errors import OpaqueError
from codemods.prove.opaque import ATTR, CALL, GLOBAL, OP, Opaque, current, forgetting, term

_bases: dict[Opaque, type] = {}
forgetting.append(_bases.clear)


def base_of(value: Opaque) -> type:
    """A real class that stands for one that is not in the trees, to be a base of one that is."""
    found = _bases.get(value)
    if found is None:
        name = str(value._u_parts[0]).rpartition(".")[2] if value._u_kind is GLOBAL else "Base"
        is_error = name.endswith(("Error", "Exception", "Warning", "Exit"))
        kind = _HeldError if is_error else Held
        found = _bases[value] = type(name, (kind,), {"_u_class": value, "__module__": "outside"})
    return found


class Held:
    """Base of what stands for classes outside the trees. An instance answers for what its class does not define."""

    _u_class: Opaque

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        current.run.call(term(ATTR, self._u_class, "__init__", None), args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name[0] == "_" and name.startswith(("__", "_u_")):
            raise AttributeError(name)
        run, fields = current.run, self.__dict__
        label = fields.get("_u_term")
        if label is None:
            run.made += 1
            label = fields["_u_term"] = term(OP, "instance", type(self).__qualname__, run.made)
        found = run.read(label, name)
        if type(found) is Opaque and found in run.fresh:
            fields[name] = found  # the next read of it asks nobody
        return found


class _HeldError(OpaqueError):
    _u_class: Opaque

    def __init__(self, *args: Any, **_: Any) -> None:
        super().__init__(term(CALL, self._u_class, tuple(map(str, args)), None, 0))
        self.args = args
