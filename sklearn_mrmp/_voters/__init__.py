"""The base learners beside the network: what each says about every label. numpy and scipy."""
