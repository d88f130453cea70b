from fix import port, testcfg


def test_it(testcfg):
    assert testcfg


def test_port():
    assert port() == 80
