"""What is done when a rule fires."""
