from unittest import mock

from srv.runner import Runner
from srv.session import Session


class FakeRunner:
    def warm(self, n):
        return -n


def main():
    print(Session(FakeRunner()).open(), Session(Runner()).open())
    with mock.patch("srv.runner.Runner.warm", return_value=9):
        print(Session(Runner()).open())
