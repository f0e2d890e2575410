"""Why a label has its probability: log odds taken apart, and shown. No torch."""
