def _extra(kind):
    return [kind, "spec"] if kind == "draft" else [kind]


def tag(names, kind):
    names = names + _extra(kind)


def tags(kind):
    names = ["all"]
    tag(names, kind)
    return names
