//! Pictures on request (contract 7.3 to 7.5).
