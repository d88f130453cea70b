def port():
    return 80
