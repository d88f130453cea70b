def loaded(model):
    return model is (not None)
