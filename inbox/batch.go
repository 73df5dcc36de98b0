package inbox

// Batch is what one Receive found.
type Batch struct {
	Messages []Message   // in the order of the file, none of them twice
	Cursor   Cursor      // where the reader stands once all of the batch is taken over; give it to Ack
	Rejected []Rejection // lines that were stepped over; each is kept in NAME.rejected.jsonl
	More     bool        // the batch was cut at its size limit and whole lines remain: Ack, then Receive again
}

// Rejection is one line that is not a message.
type Rejection struct {
	ID     string // hash of the line's logical offset and bytes; names the line in NAME.rejected.jsonl
	Offset int64  // of the line's first byte, logical
	Reason string
	Line   string // the line as found; only its beginning when it is longer than a message may be
}

// Listed is a message as Peek shows it.
type Listed struct {
	Message
	Read bool // its reader has acknowledged it
}

// Cursor is a reader's position in a mailbox, as stored in NAME.cursor. It is valid only for the bytes it was made
// from: a file that was edited, replaced or shortened is read from its start again.
type Cursor struct {
	Offset  int64    `json:"offset"`  // bytes of the file that are taken over
	Logical int64    `json:"logical"` // the same counted from the first byte the mailbox ever had
	Lines   int64    `json:"lines"`   // newlines before Offset
	Device  uint64   `json:"device"`  // of the file, for people: it may change at a reboot, so it decides nothing
	Inode   uint64   `json:"inode"`
	Hash    string   `json:"hash"` // hex SHA-256 of the up to 4,096 bytes before Offset
	IDs     []string `json:"ids"`  // the last ids taken over, oldest first
}

// Notice is something an operator should know; the package has no logger.
type Notice struct {
	Kind    NoticeKind
	Mailbox string // name of the mailbox
	Text    string // one line for people
	Err     error  // nil when nothing failed
}

// NoticeKind says what a Notice is about.
type NoticeKind string

// The kinds of a notice.
const (
	NoticeRejected NoticeKind = "rejected" // a bad line was stepped over
	NoticeRewound  NoticeKind = "rewound"  // the cursor did not match the file: reading from the start, known ids dropped
	NoticeUnkept   NoticeKind = "unkept"   // a bad line could not be copied to NAME.rejected.jsonl
)
