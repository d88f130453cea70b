"""Is a commit mechanical? Accounts for every changed line of two trees. Never imports or runs the code it reads."""
