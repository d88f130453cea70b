"""The data that travels between floors: references, plans, hazards, results, errors. No behaviour beyond
parsing itself."""
