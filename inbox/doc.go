// Package inbox keeps one durable mailbox per teammate: an append-only file of JSON lines and the position up to which
// its reader has taken them over.
//
// Dir is the implementation on a folder. Sending is acknowledged after the line is on disk; receiving consumes nothing
// until Ack, which the reader calls once the messages are in its durable transcript. A crash in between delivers again,
// never loses, and the message ids let the reader drop the repeat. The format is documented in docs/formats/inbox.md.
package inbox
