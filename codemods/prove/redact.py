"""What never gets into a recording as it is: secrets, by the name they stand under or by their look, and what differs
from run to run: addresses, times, process ids, temporary and working directories.

Runs inside the program that is recorded, so it needs the standard library alone. It replaces text and says which
numbers are of the moment; which values are kept at all is record_values.py's."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

_STRONG = frozenset(
    [
        "password",
        "passwd",
        "passwords",
        "pwd",
        "passphrase",
        "secret",
        "secrets",
        "token",
        "tokens",
        "authorization",
        "credential",
        "credentials",
        "cookie",
        "cookies",
        "apikey",
        "apikeys",
        "bearer",
        "jwt",
    ]
)
_NUMBERS = frozenset(
    ["password", "passwd", "pwd", "passphrase", "secret", "pin", "credential"]
)  # a number under these is one too
_KEYS = frozenset({"key", "keys"})
_KEY_KINDS = frozenset(
    ["api", "access", "private", "secret", "signing", "encryption", "ssh", "account", "auth", "license"]
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LOOKS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bnpm_[A-Za-z0-9]{20,}"),
    re.compile(r"\bhf_[A-Za-z0-9]{16,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bxox[abprs]-[\w-]{10,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
)
_AUTHORIZATION = re.compile(r"\b(Bearer|Basic|Token)(\s+)(?!<redacted)([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_IN_URL = re.compile(r"(\w://[^\s/:@]*:)(?!<redacted)([^\s/@]+)(@)")
_ASSIGNED = re.compile(
    r"""(?i)\b([\w-]*(?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)(?!<)([^\s"'&,;]{4,})"""
)
_LONG = re.compile(r"(?<![\w+/=-])[A-Za-z0-9_+/=-]{32,}(?![\w+/=-])")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{7,16}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_MOMENT = re.compile(r"\b20\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_PID = re.compile(r"(?i)\b(pid|process|tid|thread)(\s*[=:]?\s*)(\d+)\b")
_BELOW_TMP = re.compile(r"<tmp>/[^\s'\",:;)\]}>]+")
_DAYS = 2 * 86400.0
_CLOCKS = frozenset(
    [
        "time",
        "start",
        "started",
        "begin",
        "began",
        "deadline",
        "timestamp",
        "ts",
        "now",
        "tic",
        "clock",
        "last",
        "until",
        "expires",
        "at",
    ]
)
_SPANS = frozenset(["elapsed", "duration", "took", "latency", "uptime"])
_DIRECTORIES = frozenset({"PWD", "OLDPWD"})
_SCALES = (("time-s", 1), ("time-ms", 1_000), ("time-us", 1_000_000), ("time-ns", 1_000_000_000))
_MAX_KNOWN = 512


def words_of(name: str) -> frozenset[str]:
    """`hfApi_key2` is hf, api, key and 2."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


class Rules:
    """The rules of one run, and the secrets met so far: one that was met under its name is not shown elsewhere."""

    def __init__(self, patterns: Iterable[str] = (), environ: Any = None, cwd: str = "") -> None:
        """patterns: further names of secrets, as in a shell; with `!` before it, a name that is none."""
        given = [pattern.lower() for pattern in patterns]
        self._more = tuple(pattern for pattern in given if not pattern.startswith("!"))
        self._not = tuple(pattern[1:] for pattern in given if pattern.startswith("!"))
        self._kinds: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._done: dict[str, str] = {}  # texts that come again and again
        self._main = ""
        self._places = _places(cwd, os.environ if environ is None else environ)
        self.used = False  # whether a text lost something since the caller last set this
        for name, value in (os.environ if environ is None else environ).items():
            self._learn(name, value)

    def set_main(self, name: str) -> None:
        """What the program's own module is called in place of `__main__`."""
        if name != self._main:
            self._main = name
            self._done.clear()

    def secret(self, name: str) -> str:
        """How a name speaks of a secret: "strong", "weak", or "" where it does not."""
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._kinds[name] = self._kind_of(name)
        return kind

    def _kind_of(self, name: str) -> str:
        lower = name.lower()
        if name in _DIRECTORIES or any(fnmatchcase(lower, pattern) for pattern in self._not):
            return ""
        words = words_of(name)
        if any(fnmatchcase(lower, pattern) for pattern in self._more) or words & _STRONG:
            return "strong"
        if words & _KEYS:
            return "strong" if words & _KEY_KINDS else "weak"
        return ""

    def hides_numbers(self, name: str) -> bool:
        if any(fnmatchcase(name.lower(), pattern) for pattern in self._more):
            return self.secret(name) == "strong"
        return bool(words_of(name) & _NUMBERS) and self.secret(name) == "strong"

    def hidden(self, name: str, text: str) -> str:
        """What stands for the secret `text` found under `name`; it is replaced everywhere from now on."""
        if not text or text.startswith("<redacted:"):
            return text
        self._learn(name, text)
        self.used = True
        return f"<redacted:{_label(name)}>"

    def _learn(self, name: str, text: str) -> None:
        kind = self.secret(name)
        is_random = len(text) >= 8 and any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
        is_known = kind == "strong" and len(text) >= 4 and text.lower() not in ("true", "false", "none", "null")
        if not (is_known or (kind and is_random)) or text.isdecimal() or text in self._known:
            return
        if len(self._known) < _MAX_KNOWN:
            self._known[text] = f"<redacted:{_label(name)}>"
            self._done.clear()

    def _seen(self, secret: str) -> str:
        """What stands for a secret known by its look; a part of the text, taken out of it, is one too from now on."""
        if len(secret) >= 6 and len(self._known) < _MAX_KNOWN and secret not in self._known:
            self._known[secret] = "<redacted:value>"
            self._done.clear()
        return "<redacted:value>"

    def text(self, text: str, name: str = "") -> str:
        """The text without secrets and without what differs from run to run."""
        if name and self.secret(name):
            return self.hidden(name, text)
        found = self._done.get(text)
        if found is None:
            found = self._cleaned(text)
            if len(self._done) < _MAX_KNOWN:
                self._done[text] = found
        self.used = self.used or "<redacted:" in found
        return found

    def _cleaned(self, text: str) -> str:
        found = text
        for secret in sorted(self._known, key=lambda known: (-len(known), known)):
            if secret in found:
                found = found.replace(secret, self._known[secret])
        for look in _LOOKS:
            found = look.sub(lambda at: self._seen(at[0]), found)
        found = _AUTHORIZATION.sub(lambda at: at[1] + at[2] + self._seen(at[3]), found)
        found = _IN_URL.sub(lambda at: at[1] + self._seen(at[2]) + at[3], found)
        found = _ASSIGNED.sub(lambda at: at[1] + self._seen(at[2]), found)
        found = _LONG.sub(lambda at: self._seen(at[0]) if _is_random(at[0]) else at[0], found)
        for place, shown in self._places:
            if place in found:
                found = re.sub(re.escape(place) + r"(?![\w-])", shown, found)
        if self._main and "main__." in found:
            found = re.sub(r"\b__(?:mp_)?main__\.(?=\w)", f"{self._main}.", found)
        found = _BELOW_TMP.sub(_tmp_path, found)
        found = _UUID.sub("<uuid>", _ADDRESS.sub("<address>", found))
        return _PID.sub(r"\1\2<number>", _MOMENT.sub("<time>", found))

    def number(self, value: float, name: str = "") -> str:
        """What of the moment a number is: `time-s`, `clock`, `duration`, `pid`, `thread`; "" for any other."""
        words = words_of(name) if name else frozenset()
        if type(value) is int:
            if words & {"pid", "ppid"} and value in (os.getpid(), os.getppid()):
                return "pid" if value == os.getpid() else "ppid"
            if value > 1 << 32 and words & {"thread", "tid", "ident"}:
                return "thread"
        if value > 1e9:
            now = time.time()
            for kind, scale in _SCALES:
                if abs(value / scale - now) < _DAYS:
                    return kind if type(value) is float or scale > 1 else "time-int"
        if type(value) is float and words & _CLOCKS and value > 1 and abs(value - time.monotonic()) < 3600:
            return "clock"
        return "duration" if type(value) is float and words & _SPANS else ""


def _label(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:40] or "value"


def _tmp_path(found: re.Match[str]) -> str:
    """A path below a temporary directory without its first name and without numbers, which are other ones each time."""
    rest = found[0].split("/")[2:]
    return "/".join(["<tmp>", "*", *(re.sub(r"^tmp\w{6,10}$|[0-9]+", "*", name) for name in rest)])


def _is_random(text: str) -> bool:
    """Upper and lower letters and digits, no few of each, and no words: a key, not a name or a path."""
    kinds = [sum(map(test, text)) for test in (str.isupper, str.islower, str.isdigit)]
    return min(kinds) >= 3 and text.count("/") + text.count("_") + text.count("-") <= len(text) // 8


def _places(cwd: str, environ: Any) -> tuple[tuple[str, str], ...]:
    """Directories that differ from machine to machine, and how they are written; the longest first."""
    found: dict[str, str] = {}
    home = environ.get("HOME", "")
    for place, shown in (
        *((place, "<tmp>") for place in (environ.get("TMPDIR", "").rstrip("/"), "/tmp", "/var/tmp", "/private/tmp")),
        (home.rstrip("/"), "<home>"),
        (cwd or os.getcwd(), "<cwd>"),
    ):
        if len(place) > 3:
            found[place] = shown
            found[os.path.realpath(place)] = shown
    return tuple(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))
