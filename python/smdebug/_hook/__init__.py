"""What the hooks of all frameworks are made of. Not for users: they import smdebug.<framework>."""
