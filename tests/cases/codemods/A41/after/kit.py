class Kit:
    pass
