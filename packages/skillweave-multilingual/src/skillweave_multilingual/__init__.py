"""An embedder for 16 languages with its weights: offline, on one core, the same on every machine."""
