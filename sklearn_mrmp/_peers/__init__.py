"""The neural methods that the paper compares with: one file for each, with its network's seam."""
