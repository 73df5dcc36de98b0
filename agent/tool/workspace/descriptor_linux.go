package workspace

import (
	"fmt"
	"os"
	"strings"
)

// descriptorPath is where the kernel says an open file lies. It is unknown without /proc, and for a file that was removed
// meanwhile.
func descriptorPath(f *os.File) (string, bool) {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return path, err == nil && !strings.HasSuffix(path, " (deleted)")
}
