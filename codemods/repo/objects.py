"""Writes blobs, trees, commits and a branch through the object store; neither the work tree nor the index is touched.

Entries that nobody changes (submodules, symlinks, odd modes) stay as they are. Which changes make a commit, what it
says, and whether the repository is fit to get one is commit/'s to decide."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from codemods.repo.git import Conversation, GitFailed, git, git_or_none
from codemods.repo.scratch import scratch_directory
from codemods.schema.errors import GitError

PLAIN, EXECUTABLE, DIRECTORY = "100644", "100755", "40000"
_TYPES = {DIRECTORY: "tree", "160000": "commit"}
_KINDS = {DIRECTORY: "a directory", "160000": "a submodule", "120000": "a symlink"}
_IDENT = re.compile(r"(?P<name>.*) <(?P<email>[^>]*)> (?P<date>\d+ [+-]\d{4})\n?\Z")


class NoIdentity(GitError):
    """git does not know who the author of a commit would be."""

    code = "no-identity"


class BranchExists(GitError):
    """The branch to create, or one its name collides with, is there already."""

    code = "branch-exists"

    def __init__(self, name: str, found: str) -> None:
        what = "exists already" if name == found else f"can't be made beside the branch {found}"
        super().__init__(f"the branch {name} {what}", fix=f"choose another name, or delete it: `git branch -D {found}`")


class BadBranchName(GitError):
    """git would not take a branch of this name."""

    code = "bad-branch-name"


class Entry(Struct, frozen=True):
    """One line of a tree object. `mode` as git writes it there: 100644, 100755, 120000, 160000, 40000."""

    mode: str
    oid: str

    @property
    def is_file(self) -> bool:
        return self.mode.startswith("100")


class Identity(Struct, frozen=True):
    """Who a commit is by, as variables of the environment for `commit-tree`."""

    variables: tuple[tuple[str, str], ...]


def user_identity(repo: Path) -> Identity:
    """Author and committer as the user's configuration and environment have them. Raises NoIdentity."""
    variables: list[tuple[str, str]] = []
    for role in ("AUTHOR", "COMMITTER"):
        try:
            said = git("var", f"GIT_{role}_IDENT", cwd=repo, as_user=True)
        except GitFailed as error:
            raise NoIdentity(
                f"git has no name and e-mail address for the {role.lower()} of a commit",
                fix='run `git config --global user.name "NAME"` and `git config --global user.email "ADDRESS"`',
            ) from error
        found = _IDENT.match(said.decode("utf-8", "surrogateescape"))
        if found is None:
            raise NoIdentity(f"git's {role.lower()} {said!r} can't be read", fix="set user.name and user.email anew")
        variables += [
            (f"GIT_{role}_NAME", found["name"]),
            (f"GIT_{role}_EMAIL", found["email"]),
            (f"GIT_{role}_DATE", f"@{found['date']}"),
        ]
    return Identity(tuple(variables))


def blob_ids(repo: Path, contents: Iterable[bytes], *, store: bool) -> dict[bytes, str]:
    """The object id of each content as it is, without any filter; with `store`, the blobs exist afterwards."""
    distinct = list(dict.fromkeys(contents))
    if not distinct:
        return {}
    argv = ["hash-object", *(["-w"] if store else []), "--no-filters", "--stdin-paths"]
    with scratch_directory() as folder:
        names = []
        for number, raw in enumerate(distinct):
            place = folder / str(number)
            place.write_bytes(raw)
            names.append(os.fsencode(place))
        # One process for all of them: one each would take 3 ms a file.
        said = git(*argv, cwd=repo, stdin=b"\n".join([*names, b""]))
    return dict(zip(distinct, said.decode("ascii").split(), strict=True))


def filtered_blob(repo: Path, path: str, raw: bytes) -> str:
    """Stores what `git add PATH` would store for these bytes: line endings and filters as the attributes say.

    path: relative to `repo`, which is a directory of the work tree."""
    return git("hash-object", "-w", "--stdin", f"--path={path}", cwd=repo, stdin=raw, as_user=True).decode().strip()


class TreeWriter:
    """A tree to change and to write again and again; reads and writes only the directories on the way to a change.

    Use it as a context manager: it holds two git processes."""

    def __init__(self, repo: Path, commit: str) -> None:
        self._reader = Conversation("cat-file", "--batch", cwd=repo)
        try:
            self._writer = Conversation("mktree", "-z", "--missing", "--batch", cwd=repo)
        except BaseException:
            self._reader.close()
            raise
        self._oid_bytes = len(commit) // 2
        self._root = f"{commit}^{{tree}}"
        self._directories: dict[str, dict[str, Entry]] = {}
        self._changed: set[str] = set()

    def entry(self, path: str) -> Entry | None:
        """What stands at `path`; None when nothing does. Raises GitError when a part of it is not a directory."""
        directory, _, name = path.rpartition("/")
        return self._directory(directory).get(name)

    def put(self, path: str, entry: Entry | None) -> None:
        """Sets or, with None, removes one file; directories come and go with their files."""
        directory, _, name = path.rpartition("/")
        entries = self._directory(directory)
        if entry is None:
            del entries[name]
        else:
            entries[name] = entry
        self._changed.update(_with_parents(directory))

    def write(self) -> str:
        """Stores the tree as it now is and returns its object id."""
        written = self._root
        for directory in sorted(self._changed, key=_depth, reverse=True):
            entries = self._directories[directory]
            if not directory:
                written = self._root = self._store(entries)
                continue
            parent, _, name = directory.rpartition("/")
            above = self._directory(parent)
            if entries:
                above[name] = Entry(DIRECTORY, self._store(entries))
            else:
                above.pop(name, None)
                del self._directories[directory]
        self._changed.clear()
        return written

    def _directory(self, directory: str) -> dict[str, Entry]:
        known = self._directories.get(directory)
        if known is not None:
            return known
        oid: str | None = self._root
        if directory:
            parent, _, name = directory.rpartition("/")
            found = self._directory(parent).get(name)
            if found is not None and found.mode != DIRECTORY:
                raise GitError(
                    f"is {_KINDS.get(found.mode, 'a file')} in the commit to start from, not a directory",
                    fix="name a place below a directory of this repository",
                    path=directory,
                )
            oid = found.oid if found else None
        self._directories[directory] = self._load(oid) if oid else {}
        return self._directories[directory]

    def _load(self, oid: str) -> dict[str, Entry]:
        self._reader.ask(f"{oid}\n".encode("ascii"))
        head = self._reader.line()
        size = head.rpartition(b" ")[2]
        if not size.isdigit():
            raise GitError(f"the repository lacks the object {oid}", fix="run `git fsck`")
        raw = self._reader.exactly(int(size) + 1)[:-1]
        entries: dict[str, Entry] = {}
        start = 0
        while start < len(raw):
            space, end = raw.index(b" ", start), raw.index(b"\0", start)
            oid_end = end + 1 + self._oid_bytes
            entries[os.fsdecode(raw[space + 1 : end])] = Entry(raw[start:space].decode(), raw[end + 1 : oid_end].hex())
            start = oid_end
        return entries

    def _store(self, entries: Mapping[str, Entry]) -> str:
        lines = (
            f"{entry.mode} {_TYPES.get(entry.mode, 'blob')} {entry.oid}\t{name}\0" for name, entry in entries.items()
        )
        # An empty line ends a tree.
        self._writer.ask(os.fsencode("".join(lines)) + b"\0")
        return self._writer.line().decode("ascii")

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> TreeWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _depth(directory: str) -> int:
    return directory.count("/") + 1 if directory else 0


def _with_parents(directory: str) -> Iterable[str]:
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
    yield ""


def write_commit(repo: Path, *, tree: str, parents: Sequence[str], message: str, identity: Identity) -> str:
    """Stores one unsigned commit and returns its hash. No ref points to it yet."""
    argv = ["commit-tree", "--no-gpg-sign", *(part for parent in parents for part in ("-p", parent)), "-F", "-", tree]
    raw = message.encode("utf-8", "backslashreplace")
    return git(*argv, cwd=repo, stdin=raw, extra=dict(identity.variables)).decode("ascii").strip()


def check_branch_name(repo: Path, name: str) -> None:
    """Raises BadBranchName or BranchExists when a branch `name` could not be created."""
    is_valid = (
        not name.startswith("-")
        and name != "HEAD"
        and "\0" not in name
        and git_or_none("check-ref-format", f"refs/heads/{name}", cwd=repo) is not None
    )
    if not is_valid:
        raise BadBranchName(f"{name!r} is not a valid branch name", fix="write a name such as split/leaf-helpers")
    if name.startswith("refs/"):
        short = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else name.rpartition("/")[2]
        raise BadBranchName(
            f"{name} is the name of a ref, and would become the branch refs/heads/{name}", fix=f"write {short}"
        )
    first = name.partition("/")[0]
    said = git("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/{first}", cwd=repo)
    for found in os.fsdecode(said).splitlines():
        if found == name or found.startswith(f"{name}/") or name.startswith(f"{found}/"):
            raise BranchExists(name, found)


def create_branch(repo: Path, *, name: str, commit: str, identity: Identity, why: str) -> None:
    """Points a new branch at `commit`, at once and only if nobody has made it meanwhile. Raises BranchExists then."""
    nothing = "0" * len(commit)
    argv = ["update-ref", "-m", why, f"refs/heads/{name}", commit, nothing]
    try:
        git(*argv, cwd=repo, extra=dict(identity.variables))
    except GitFailed as error:
        check_branch_name(repo, name)  # says it better when that is the reason
        raise error from None
