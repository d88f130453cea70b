from ff import root

ROOT = root()
