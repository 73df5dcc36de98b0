// Package ulid makes and reads ULIDs: 26 characters that sort by the time they were made.
//
// The form is that of github.com/ulid/spec: 48 bits of Unix milliseconds and 80 random bits, in Crockford's base 32,
// upper case. Ids made within one millisecond have no order among themselves.
package ulid

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Len is the length of every ULID in bytes.
const Len = 26

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// New returns a fresh id for the present moment. It is safe for any goroutine and cannot fail: the system's random
// source either answers or ends the program.
func New() string {
	return at(time.Now())
}

func at(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:]) // never returns an error
	return encode(b)
}

// encode writes the 128 bits as 26 groups of 5, from the lowest up; the first group has 3 bits only.
func encode(b [16]byte) string {
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var out [Len]byte
	for i := Len - 1; i >= 0; i-- {
		out[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// Valid reports whether s is a ULID in the form New writes. Lower case and the look-alikes that Crockford's alphabet
// forgives are refused: an id that is compared byte by byte must have one spelling.
func Valid(s string) bool {
	if len(s) != Len || s[0] > '7' {
		return false
	}
	for i := range len(s) {
		if digit(s[i]) < 0 {
			return false
		}
	}
	return true
}

// Time returns the moment the id was made, to the millisecond and in UTC; false if s is not Valid.
func Time(s string) (time.Time, bool) {
	if !Valid(s) {
		return time.Time{}, false
	}
	var ms int64
	for i := range 10 {
		ms = ms<<5 | int64(digit(s[i]))
	}
	return time.UnixMilli(ms).UTC(), true
}

// digit is the value of one character, or -1.
func digit(c byte) int {
	for i := range len(alphabet) {
		if alphabet[i] == c {
			return i
		}
	}
	return -1
}
