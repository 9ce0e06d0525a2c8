"""What every package may use: options, schedules, jobs, files, names from outside, numbers in words."""
