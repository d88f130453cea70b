from dst import base

-3
left = base
