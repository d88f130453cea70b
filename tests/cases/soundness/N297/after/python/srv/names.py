NAME = "srv"
