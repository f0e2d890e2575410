"""The page of a comparison, by its parts."""
