from src import root

ROOT = root()
