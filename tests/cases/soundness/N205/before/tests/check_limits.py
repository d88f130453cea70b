from srv.runner import clip


def check_clip():
    assert clip(20) == 8
