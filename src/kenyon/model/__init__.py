"""The fitted state of a classifier: engine, labels, inputs, scaling, locks."""
