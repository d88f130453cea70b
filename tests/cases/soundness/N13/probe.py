from srv.runner import Runner
try:
    print(Runner().batch(12))
except Exception as error:
    print(type(error).__name__)
