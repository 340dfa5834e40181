package server

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"
)

// TestStartAfterFullDisk simulates a disk that takes only the beginning of a file; it expects that a later start creates the missing keys.
func TestStartAfterFullDisk(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		limit  uint64
		make   func(dir string) error
	}{
		"part of the key of Entra ID": {"it is the longest file", 1000, func(dir string) error {
			s, err := New(Options{StateDir: dir})
			return errors.Join(err, closeServer(s))
		}},
		"part of the key": {"there is no certificate", 100, func(dir string) error { _, err := newAuthority(dir); return err }},
		"part of the certificate": {"the key is whole, and replaced with it", 300,
			func(dir string) error { _, err := newAuthority(dir); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			restore := limitFileSize(t, test.limit)
			err := test.make(dir)
			restore()
			if !errors.Is(err, syscall.EFBIG) {
				t.Fatalf("on a full disk: %v", err)
			}
			if err := test.make(dir); err != nil {
				t.Errorf("%s: %v", test.reason, err)
			}
		})
	}
}

func closeServer(s *Server) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

// limitFileSize bounds the files that this process can write, until restore is called.
func limitFileSize(t *testing.T, limit uint64) (restore func()) {
	t.Helper()
	var former syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &former); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // The write then ends with an error.
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: limit, Max: former.Max})
	return func() { set(former); signal.Reset(syscall.SIGXFSZ) }
}
