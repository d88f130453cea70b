def _fusion_off(cuda, flag):
    return True if cuda else flag


def use_alt(cuda, fusion_off):
    return _fusion_off(cuda, fusion_off)
