"""Low-rank adapters: read and checked, kept in slots, added to the products of the rows that ask for them. Which
request has which adapter is the scheduler's."""
