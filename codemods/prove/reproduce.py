"""A difference as a pytest file: it fails as long as the difference is there and passes once it is mended."""

from __future__ import annotations

import re

from codemods.schema.prove import Delta, Pair

_TEMPLATE = '''"""{old} and {new} differ: {code}, {path}:{line}.

Written by `unmoved prove`. It fails while the difference is there. In this world:
{world}
"""

from __future__ import annotations

from codemods.prove.replaying import check_pair

OLD_TREE = {old_tree!r}  # set it to where the old tree is, or to a revision; so for the new one
NEW_TREE = {new_tree!r}


def test_{name}() -> None:
    check_pair(
        OLD_TREE,
        NEW_TREE,
        old={old!r},
        new={new!r},
        code={code!r},
        message={message!r},
        domains={domains!r},
        same={same!r},
    )
'''


def reproduction(pair: Pair, delta: Delta, old_tree: str = "", new_tree: str = "") -> str:
    """The text of the file."""
    name = re.sub(r"\W+", "_", f"{pair.new.rpartition(':')[2]}_{delta.code}").strip("_").lower()
    world = "\n".join(f"    {each}" for each in delta.world) or "    (every world)"
    return _TEMPLATE.format(
        old=pair.old,
        new=pair.new,
        code=delta.code,
        path=delta.path,
        line=delta.line,
        world=world.replace('"""', "'''").replace("\\", "\\\\"),
        name=name,
        message=delta.message,
        domains=dict(pair.domains),
        same=dict(pair.same),
        old_tree=old_tree,
        new_tree=new_tree,
    )
