"""Models in folders and on the Hugging Face Hub: a model file and its model card."""
