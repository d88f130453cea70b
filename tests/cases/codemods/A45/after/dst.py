import early

VALUE = early.ask.__name__
