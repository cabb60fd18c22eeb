"""Between a client and its model: one request and its reply, in the three forms that models are called in (spec 12)."""
