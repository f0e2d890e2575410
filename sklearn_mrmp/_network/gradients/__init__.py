"""What gradients of a trained network say of its rows."""
