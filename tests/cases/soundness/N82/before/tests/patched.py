from unittest import mock

from srv.runner import run


def main():
    with mock.patch("srv.runner.measure", lambda: 5, create=True):
        print(run())
