from fix import testcfg
from ports import port


def test_it(testcfg):
    assert testcfg


def test_port():
    assert port() == 80
