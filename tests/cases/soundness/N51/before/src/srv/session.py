from types import SimpleNamespace

from srv.runner import Runner


def open_session():
    args = SimpleNamespace(page_size=16)
    runner = Runner(args)
    args.page_size = 1
    return runner.pages(100)
