"""Kinds of files: each reader gives chunks of rows, with the place of each row in the file."""
