// Package eventlog keeps append-only files of JSON lines that show when they were altered.
//
// One process writes a file, any number read it. Every line carries a sequence number and a checksum that covers the
// line and the checksum before it, so that a record which was flipped, removed, swapped or repeated is found. What the
// chain cannot show is a cut at a record's end; a closed log ends with a record that says so. Run logs, the team log
// and transcripts are such files. The framing is documented in docs/formats/events.md.
package eventlog
