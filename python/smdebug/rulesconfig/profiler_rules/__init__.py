"""The rules about the machine."""
