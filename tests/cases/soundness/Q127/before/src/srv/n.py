from srv.m import Board


def make():
    return Board(1, 2)
