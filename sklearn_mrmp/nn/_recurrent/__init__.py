"""Parts of networks that name labels one after the other: what they read, and how they search."""
