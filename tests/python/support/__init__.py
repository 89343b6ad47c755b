"""What the Python suites share: scenarios, the program that plays them, and a
model of what a hook saves."""
