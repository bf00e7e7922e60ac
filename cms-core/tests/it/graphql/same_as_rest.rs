//! Any selection of fields is what the rest of the API shows.
