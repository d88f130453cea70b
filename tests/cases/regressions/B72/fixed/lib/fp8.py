from lib.ops import q
