from srv.limits import clip


def check_clip():
    assert clip(20) == 8
