"""What commands are given: options, messages, transcripts, skills and ledgers, read and checked."""
