package board

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// PeopleFields returns the canonical JSON of the members that people own: keys sorted, no white space, number literals
// as written. Every rewrite of the board's own fields leaves it as it is. The source must be an acceptable task file;
// of anything else the result is nil.
func PeopleFields(src []byte) []byte {
	o, err := strictjson.ParseObject(src)
	if err != nil {
		return nil
	}
	fields := map[string]any{}
	for _, m := range o.Members() {
		if slices.Contains(boardFields[:], m.Key) {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(m.Raw))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			return nil
		}
		fields[m.Key] = v
	}
	return encode(fields)
}
