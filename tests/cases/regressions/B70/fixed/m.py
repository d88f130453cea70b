def _old_theta(cfg):
    return cfg.get("theta", 10000)


def theta(cfg):
    rope = cfg.get("rope")
    if rope and "theta" in rope:
        return rope["theta"]
    return _old_theta(cfg)
