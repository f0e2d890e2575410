"""HTML pages: one file each, which works offline and asks nothing of any server."""
