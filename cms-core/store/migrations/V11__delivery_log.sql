-- What was sent and received in the last attempt: headers as JSON, see `LoggedHeaders`, and the time
-- from the start of the request to the end of the response.
ALTER TABLE webhook_delivery ADD COLUMN request_headers TEXT;
ALTER TABLE webhook_delivery ADD COLUMN response_headers TEXT;
ALTER TABLE webhook_delivery ADD COLUMN duration_ms INTEGER;

-- Finds the requests of reindexes among all changes.
CREATE INDEX journal_reindex ON journal (seq) WHERE kind = 'index.want';
