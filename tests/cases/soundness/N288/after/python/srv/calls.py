def call(*args, model, **options):
    names = sorted(options)
    return f"{model}{args}{names}"
