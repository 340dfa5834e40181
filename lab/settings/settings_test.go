package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongSettings checks that an error about an edited file names the field and its type.
func TestWrongSettings(t *testing.T) {
	for name, test := range map[string]struct{ reason, content, want string }{
		"type":   {"a port is a number", `{"basePort": "high"}`, `basePort: Invalid value: "string": must be of type integer`},
		"syntax": {"half a file", `{"basePort": `, "unexpected end of JSON input"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), file+": "+test.want+". Stop the lab with `lab down`") {
			t.Errorf("%s: %s: got %v, want %s", name, test.reason, err, test.want)
		}
	}
}

// TestCheckCurrent notices that another command stored settings after these were read.
func TestCheckCurrent(t *testing.T) {
	dir := t.TempDir()
	fresh, other := &Settings{Dir: dir, ClientSecret: "one"}, &Settings{Dir: dir, ClientSecret: "two"}
	if err := errors.Join(fresh.CheckCurrent(), other.CheckCurrent(), other.Save(), other.CheckCurrent()); err != nil {
		t.Fatal(err)
	}
	if err := fresh.CheckCurrent(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a lab that another command made meanwhile: %v", err)
	}
	loaded, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	loaded.TimeScale = 2
	if err := errors.Join(loaded.CheckCurrent(), loaded.Save()); err != nil {
		t.Error(err)
	}
	if other.CheckCurrent() == nil {
		t.Error("other settings were stored, and CheckCurrent reported none")
	}
}

// TestBeside loads labs that use the simulated Azure of another lab.
func TestBeside(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// beside has for each lab the one whose Azure it uses.
		beside map[string]string
		want   []string
	}{
		"other lab": {"its Azure has its passwords", map[string]string{"one": "", "two": "one"}, nil},
		"gone": {"the lab itself exists, and may run", map[string]string{"two": "one"},
			[]string{"/two uses the simulated Azure of another lab", "there is no lab in ", "/one"}},
		"itself": {"it would have no Azure", map[string]string{"two": "two"}, []string{"--beside ", "/two is the lab itself"}},
		"chain": {"the one beside it has no Azure", map[string]string{"zero": "", "one": "zero", "two": "one"},
			[]string{"/one: that lab has no simulated Azure", "/zero. Name that one"}},
		"circle": {"none has an Azure", map[string]string{"one": "two", "two": "one"}, []string{"/one: that lab has no simulated Azure"}},
	} {
		root := t.TempDir()
		for lab, beside := range test.beside {
			s := &Settings{Dir: filepath.Join(root, lab), ClientSecret: "of " + lab}
			if beside != "" {
				s.Beside = filepath.Join(root, beside)
			}
			if err := s.Save(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Load(filepath.Join(root, "two"))
		if test.want == nil {
			if err != nil || s.CloudLab().Dir != filepath.Join(root, "one") || s.ClientSecret != "of one" {
				t.Errorf("%s: %s: got %v, %v", name, test.reason, s, err)
			}
			continue
		}
		if err == nil || errors.Is(err, ErrNoLab) {
			t.Errorf("%s: %s: got %v", name, test.reason, err)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %s: error lacks %q: %v", name, test.reason, part, err)
			}
		}
	}
}
