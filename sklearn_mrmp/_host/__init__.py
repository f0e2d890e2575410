"""The process we are guests in: threads, forks, files and optional packages."""
