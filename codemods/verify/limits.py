"""How much of a stranger's commit is looked at before it is called too much. Each limit ends in a finding, a residue or
an error, never in a verdict and never in a hang.

Others stand where they hold: the size of a file and the depth of a tree (repo/store.py), the number of files
(repo/tree_diff.py), the number of commits (repo/ranges.py), the text of a change (tree_change.py), the rows of a line
diff (line_diff.py), the results of a SARIF file (report/sarif.py)."""

from __future__ import annotations

# Seconds of the processor for one commit. The largest real commit that was tried takes less than a tenth of it.
MAX_COMMIT_S = 120
# Findings of one code in one commit; the rest is counted.
MAX_FINDINGS_OF_A_CODE = 200
# Bytes of a certificate that is read back.
MAX_CERTIFICATE_BYTES = 64_000_000
