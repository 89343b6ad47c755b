"""What several parts of the package need. Not for users."""
