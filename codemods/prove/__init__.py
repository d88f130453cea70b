"""Where a change is not mechanical: run the old and the new code as twins in one controlled world and compare every
effect."""
