import fnmatch, os
import build
with open(os.path.join(".ci", "changes.yml"), encoding="utf-8") as file:
    rules = [line.strip(' -"\n') for line in file if line.lstrip().startswith("-")]
print(build.names(), [any(fnmatch.fnmatch(f, rule) for rule in rules) for f in [*build.SOURCES, "build.py"]])
