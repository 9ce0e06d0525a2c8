"""Tables, plots, the page."""
