def tag(names, kind):
    names += [kind, "spec"] if kind == "draft" else [kind]


def tags(kind):
    names = ["all"]
    tag(names, kind)
    return names
