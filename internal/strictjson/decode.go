package strictjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errRange says that an integer does not fit 64 bits.
var errRange = errors.New("is outside the range of a 64-bit integer")

// Kind returns what the value of m is: "string", "number", "object", "array", "boolean" or "null".
func Kind(m Member) string {
	return kindOf(m.Raw[0])
}

func kindOf(first byte) string {
	switch first {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

// String returns the text of a string value; any other value, null too, is a *TypeError.
func String(m Member) (string, error) {
	if Kind(m) != "string" {
		return "", &TypeError{Want: "a string", Got: article(Kind(m))}
	}
	return decodeString(m.Raw), nil
}

// Bool returns a boolean value; any other value is a *TypeError.
func Bool(m Member) (bool, error) {
	if Kind(m) != "boolean" {
		return false, &TypeError{Want: "true or false", Got: article(Kind(m))}
	}
	return m.Raw[0] == 't', nil
}

// Int64 returns an integer that is written as one: 1.0 and 1e3 are refused, for they tell of a program that counts in
// floating point and loses digits.
func Int64(m Member) (int64, error) {
	if Kind(m) != "number" {
		return 0, &TypeError{Want: "an integer", Got: article(Kind(m))}
	}
	return parseInt(string(m.Raw))
}

func parseInt(literal string) (int64, error) {
	if strings.ContainsAny(literal, ".eE") {
		return 0, &TypeError{Want: "an integer", Got: literal}
	}
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		return 0, errRange
	}
	return n, nil
}

// ID returns an id: an integer of 1 or more, or a string of its digits, without sign and leading zeros.
func ID(m Member) (int64, error) {
	literal := string(m.Raw)
	switch Kind(m) {
	case "number":
	case "string":
		literal = decodeString(m.Raw)
		if !isDigits(literal) {
			return 0, &TypeError{Want: "an id (a whole number of 1 or more)", Got: strconv.Quote(literal)}
		}
	default:
		return 0, &TypeError{Want: "an id (a whole number of 1 or more)", Got: article(Kind(m))}
	}
	n, err := parseInt(literal)
	if err != nil {
		return 0, err
	}
	if n < 1 {
		return 0, fmt.Errorf("must be 1 or more, not %d", n)
	}
	return n, nil
}

// isDigits reports whether s is a decimal number in its shortest form.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}
