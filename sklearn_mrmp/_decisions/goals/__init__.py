"""Decision objects: what `decision=` takes besides names and cuts; see `base`."""
