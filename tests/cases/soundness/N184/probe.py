import warnings
from srv.runner import old_run
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    old_run(2)
print(caught[0].filename.endswith("runner.py"))
