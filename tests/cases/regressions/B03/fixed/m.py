def _build_swa(kind, post):
    return dict(kind=kind, post_capture=post)


def build(kind, post):
    if kind == "swa":
        return _build_swa(kind, post)
    return dict(kind=kind, post_capture=post)
