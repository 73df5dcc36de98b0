package watch

import "testing"

func TestRemote(t *testing.T) {
	for magic, want := range map[uint32]string{0x6969: "nfs", 0xff534d42: "smb", 0x65735546: "fuse", 0xef53: "", 0x01021994: ""} {
		if got := remoteName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if got := Remote("/proc"); got != "" {
		t.Errorf("/proc is %q", got)
	}
	if got := Remote("/does/not/exist"); got != "" {
		t.Errorf("an absent folder is %q", got)
	}
}
