"""The command line: one file for each command, and `formats` with one for each kind of file."""
