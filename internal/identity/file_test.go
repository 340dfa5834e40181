package identity

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason, path string
		want         []byte
		err          string
	}{
		"file":      {"a certificate", write("cert", []byte("PEM")), []byte("PEM"), ""},
		"largest":   {"the bound is no mistake of one", write("largest", make([]byte, maxFile)), make([]byte, maxFile), ""},
		"too large": {"it is no certificate", write("large", make([]byte, maxFile+1)), nil, "at most"},
		"device":    {"it has no end, and would take all memory", "/dev/zero", nil, "not a regular file"},
		"link":      {"the target of the link counts", link, nil, "not a regular file"},
		"pipe":      {"reading it would wait for ever", pipe, nil, "not a regular file"},
		"folder":    {"it cannot be read", folder, nil, "not a regular file"},
		"missing":   {"there is nothing", filepath.Join(folder, "none"), nil, "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readFile("", test.path)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("%s: %v, want %q", test.reason, err, test.err)
			}
			if !bytes.Equal(got, test.want) {
				t.Errorf("%s: got %d bytes, want %d", test.reason, len(got), len(test.want))
			}
		})
	}
}
