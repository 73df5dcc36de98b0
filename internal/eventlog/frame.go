package eventlog

import (
	"bytes"
	"hash/crc32"
	"strconv"
	"time"
)

// The frame of a line, which is one JSON object:
//
//	{"seq":7,"ts":"2026-01-02T03:04:05.678901Z",DATA,"sum":"8f3a01bc"}
//
// DATA is the members of the caller's object. The sum is the CRC-32C of the lines of the file up to and with this one,
// each without its sum member, closing brace and newline: so it covers the sum before it.
const (
	seqKey = `{"seq":`
	tsKey  = `,"ts":"`
	sumKey = `,"sum":"`
	tail   = len(sumKey) + 8 + len(`"}`)

	timeLayout = "2006-01-02T15:04:05.000000Z"
)

// MaxRecord is the longest line in bytes, its newline included.
const MaxRecord = 16 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHead appends the beginning of a line.
func appendHead(line []byte, seq int64, at time.Time) []byte {
	line = append(line, seqKey...)
	line = strconv.AppendInt(line, seq, 10)
	line = append(line, tsKey...)
	line = at.UTC().AppendFormat(line, timeLayout)
	return append(line, '"')
}

// appendTail appends the sum and the end of a line, and returns the sum for the next one.
func appendTail(line []byte, prev uint32) ([]byte, uint32) {
	sum := crc32.Update(prev, castagnoli, line)
	line = append(line, sumKey...)
	digits := sumDigits(sum)
	line = append(line, digits[:]...)
	return append(line, '"', '}', '\n'), sum
}

// sumDigits is a sum as it is written: one spelling only, so that a changed letter case is an alteration.
func sumDigits(sum uint32) (digits [8]byte) {
	const hex = "0123456789abcdef"
	for i := range digits {
		digits[i] = hex[sum>>(28-4*i)&15]
	}
	return digits
}

// parse reads one line without its newline. A reason that is not empty says why it is not a sound record that follows
// one with the sum prev.
func parse(line []byte, prev uint32) (r Record, sum uint32, reason string) {
	if len(line) < tail || string(line[len(line)-tail:len(line)-10]) != sumKey || string(line[len(line)-2:]) != `"}` {
		return r, 0, "no checksum"
	}
	body := line[:len(line)-tail]
	sum = crc32.Update(prev, castagnoli, body)
	if digits := sumDigits(sum); string(digits[:]) != string(line[len(line)-10:len(line)-2]) {
		return r, 0, "checksum does not match: altered, or a record before it is missing, repeated or out of order"
	}
	rest, ok := bytes.CutPrefix(body, []byte(seqKey))
	seq, rest, ok2 := bytes.Cut(rest, []byte(tsKey))
	at, data, ok3 := bytes.Cut(rest, []byte(`"`))
	if !ok || !ok2 || !ok3 {
		return r, 0, "no sequence number or time"
	}
	n, err := strconv.ParseInt(string(seq), 10, 64)
	if err != nil || n < 1 {
		return r, 0, "malformed sequence number"
	}
	when, err := time.Parse(time.RFC3339Nano, string(at))
	if err != nil {
		return r, 0, "malformed time"
	}
	object := make([]byte, 0, len(data)+2)
	object = append(object, '{')
	object = append(object, bytes.TrimPrefix(data, []byte(","))...)
	object = append(object, '}')
	return Record{Seq: n, Time: when, Data: object}, sum, ""
}
