package scenario

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// handed are labs in which a story has left nothing, for those that wait for one. To start a lab costs as much as the life of a
// cluster.
var handed struct {
	sync.Mutex
	labs    []*lab
	waiting int
}

// TestMain lets more stories run side by side than there are processors, unless -parallel sets a number, because they
// also wait. In the end it stops the labs that no test took, as when the tests ended early.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa((3*runtime.GOMAXPROCS(0)+1)/2)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	code := m.Run()
	for _, l := range handed.labs {
		if err := l.stopLab(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// takeLab is newLab for a story that can run in a lab where others ran before: all that it sees of the logs begins here.
// Such stories run side by side.
func takeLab(t *testing.T) *lab {
	t.Helper()
	handed.Lock()
	handed.waiting++
	handed.Unlock()
	t.Parallel()
	handed.Lock()
	defer handed.Unlock()
	handed.waiting--
	n := len(handed.labs) - 1
	if n < 0 {
		l := newLab(t)
		l.shared = true
		return l
	}
	l := *handed.labs[n]
	handed.labs = handed.labs[:n]
	l.t, l.left, l.excused = t, false, nil
	l.moments = newMoments()
	s := l.loadSettings()
	l.seenRequests, l.seenChanges, l.seenAudit = logLength(t, s.RequestLog()), logLength(t, s.ChangeLog()), logLength(t, s.AuditLog())
	t.Cleanup(l.endStory)
	return &l
}

// endStory is the end of a story. Its lab is another one's then, if nothing went wrong and the story left it as it was.
func (l *lab) endStory() {
	handedOn := false
	// A log that cannot be read ends the test here.
	defer func() {
		if handedOn {
			return
		}
		if l.t.Failed() {
			l.showLogs()
		}
		if err := l.stopLab(); err != nil {
			l.t.Error(err)
		}
	}()
	l.expectRights()
	l.expectProperties()
	if l.beside != nil {
		log := l.readAuditLog()
		l.ended = &log
	}
	handedOn = l.shared && l.left && !l.t.Failed() && l.handOn()
}

// newFolder returns a folder for a lab, which outlives the story that started it.
func newFolder() (string, error) { return os.MkdirTemp("", "story-") }

// handOn leaves the lab to a story that waits for one, if any does.
func (l *lab) handOn() bool {
	handed.Lock()
	defer handed.Unlock()
	if handed.waiting <= len(handed.labs) {
		return false
	}
	handed.labs = append(handed.labs, l)
	return true
}

// stopLab stops the lab and removes its files.
func (l *lab) stopLab() error {
	// The test's context has ended, but the processes of the lab must stop.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := l.newCommand(ctx, "lab", "down").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("lab down: %w\n%s", err, out)
	}
	return errors.Join(err, os.RemoveAll(filepath.Dir(l.dir)))
}

// logLength returns how far a log goes that has a record in each line, without a line that is being written.
func logLength(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.LastIndexByte(raw, '\n') + 1
}
