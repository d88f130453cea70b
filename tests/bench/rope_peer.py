"""The peer: rope moves a module-level function on the same tree. Run as a process of its own: `rope_peer.py ROOT`.

The function is one that a single other module imports, the smallest move of the real plans."""

from __future__ import annotations

import sys

SOURCE = "sglang/srt/model_executor/model_runner.py"
TARGET = "sglang/srt/model_loader/utils.py"
NAME = "resolve_language_model"


def main(root: str) -> int:
    """Compute the change set as rope does it; write nothing."""
    from rope.base.project import Project
    from rope.refactor.move import create_move

    project = Project(root, ropefolder=None)
    try:
        resource = project.get_resource(SOURCE)
        offset = resource.read().index(f"def {NAME}(") + len("def ")
        changes = create_move(project, resource, offset).get_changes(project.get_resource(TARGET))
        sys.stdout.write(f"{len(changes.changes)} files\n")
    finally:
        project.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
