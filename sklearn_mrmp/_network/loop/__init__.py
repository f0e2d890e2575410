"""What happens around the steps of a training: schedules, stopping, Ctrl-C, progress."""
