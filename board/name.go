package board

import (
	"strconv"
	"strings"

	"github.com/autonomy-team/autonomy"
)

const (
	filePrefix = "task_"
	fileSuffix = ".json"
)

// FileName returns the name of the file that holds a task.
func FileName(id autonomy.TaskID) string {
	return filePrefix + strconv.FormatInt(int64(id), 10) + fileSuffix
}

// ParseName reads the id off a file name. A name that is not task_, digits, .json belongs to somebody else and is
// ignored (task = false). A name that has this form and still gives no id is an error that says how to rename it; id is
// then the number, if it fits, so that it is not issued again.
func ParseName(name string) (id autonomy.TaskID, task bool, err *InvalidError) {
	digits, ok := strings.CutPrefix(name, filePrefix)
	if ok {
		digits, ok = strings.CutSuffix(digits, fileSuffix)
	}
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false, nil
	}
	n, parseErr := strconv.ParseInt(digits, 10, 64)
	id = autonomy.TaskID(n)
	switch {
	case parseErr != nil:
		return 0, true, &InvalidError{Path: name, Reason: "the number in the name is too large; rename the file"}
	case n == 0:
		return 0, true, &InvalidError{Path: name, Reason: "task numbers begin at 1; rename the file"}
	case digits[0] == '0':
		reason := "the number in the name has leading zeros; rename the file to " + FileName(id)
		return id, true, &InvalidError{Path: name, Reason: reason}
	}
	return id, true, nil
}
