//! Tokens and their digests. Only the SHA-256 of a token is ever stored (contract 10).
