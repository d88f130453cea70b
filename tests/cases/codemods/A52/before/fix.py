REG = []


def port():
    return 80


def testcfg():
    return 1


REG.append(testcfg)
