import math as m_


def run(x):
    return m_.floor(x)
