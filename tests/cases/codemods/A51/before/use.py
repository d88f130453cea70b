from m import ask

OUT = ask()
