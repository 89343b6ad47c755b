"""The rules about tensors."""
