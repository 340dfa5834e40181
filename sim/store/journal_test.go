package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errFull = errors.New("no space left on device")

// fullDisk takes room bytes and fails then, as a full disk does.
type fullDisk struct {
	*os.File
	room  int
	stuck bool // not even the length of the file can be changed
}

func (d *fullDisk) Write(raw []byte) (int, error) {
	if len(raw) <= d.room {
		return d.File.Write(raw)
	}
	n, err := d.File.Write(raw[:d.room])
	return n, errors.Join(err, errFull)
}

func (d *fullDisk) Truncate(size int64) error {
	if d.stuck {
		return errFull
	}
	return d.File.Truncate(size)
}

func putThing(s *Store, id string) error {
	return s.Update(func(tx *Tx) error {
		tx.Put(&Resource{ID: "/subscriptions/s/" + id, Type: "Microsoft.X/things"})
		return nil
	})
}

// TestFullDisk checks that a record which was written in part does not damage the records behind it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(NewVirtual(time.Time{}), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := putThing(s, "a"); err != nil {
		t.Fatal(err)
	}
	disk := &fullDisk{File: s.journal.file.(*os.File), room: 10, stuck: true}
	s.journal.file = disk
	if err := putThing(s, "lost"); !errors.Is(err, errFull) {
		t.Errorf("a write to a full disk: %v", err)
	}
	disk.room = 1000
	if err := putThing(s, "refused"); !errors.Is(err, errFull) {
		t.Errorf("a write behind a part of a record that cannot be removed: %v", err)
	}
	disk.stuck = false
	if err := putThing(s, "b"); err != nil {
		t.Errorf("a write after the disk has room again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(NewVirtual(time.Time{}), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.View(func(tx *Tx) {
		if tx.Get("/subscriptions/s/a") == nil || tx.Get("/subscriptions/s/b") == nil || len(tx.List("", "")) != 2 {
			t.Errorf("after the restart there are %d resources, want a and b", len(tx.List("", "")))
		}
	})
}

// TestFailedCompaction checks that a write stands that is in the journal, also if the journal cannot be compacted after it.
func TestFailedCompaction(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(NewVirtual(time.Time{}), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.journal.records = compactAfter - 1
	if err := os.Mkdir(filepath.Join(dir, snapshotFile+".new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := putThing(s, "a"); err != nil {
		t.Errorf("the write is refused: %v", err)
	}
	s.View(func(tx *Tx) {
		if tx.Get("/subscriptions/s/a") == nil {
			t.Error("the write was undone, but the journal has it")
		}
	})
}

// TestDirectoryInUse checks that a second simulator does not write into the files of a first one.
func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(NewVirtual(time.Time{}), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(NewVirtual(time.Time{}), dir); err == nil || !strings.Contains(err.Error(), "another simulator uses it") {
		t.Errorf("the second one: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(NewVirtual(time.Time{}), dir)
	if err != nil {
		t.Fatalf("after the first one has ended: %v", err)
	}
	again.Close()
}

// TestDamagedState does what the message about each of the two files says. The other file alone has an earlier state: a deleted resource
// came back, and an acknowledged one was gone.
func TestDamagedState(t *testing.T) {
	for _, name := range []string{snapshotFile, journalFile} {
		dir := filepath.Join(t.TempDir(), "state")
		s, err := Open(NewVirtual(time.Time{}), dir)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(putThing(s, "deleted"), s.journal.compactJournal(), putThing(s, "acknowledged"),
			s.Update(func(tx *Tx) error { tx.Delete("/subscriptions/s/deleted"); return nil }), s.Close())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("garbage\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(NewVirtual(time.Time{}), dir)
		if err == nil || !strings.Contains(err.Error(), name+" is damaged") || !strings.Contains(err.Error(), "remove the folder "+dir+" to") {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		again, err := Open(NewVirtual(time.Time{}), dir)
		if err != nil {
			t.Fatal(err)
		}
		again.View(func(tx *Tx) {
			if tx.Get("/subscriptions/s/deleted") != nil || tx.Get("/subscriptions/s/acknowledged") != nil {
				t.Errorf("%s: the state is not empty", name)
			}
		})
		again.Close()
	}
}

// TestPanicUndoesTheTransaction: an HTTP server goes on after a panic of a handler.
func TestPanicUndoesTheTransaction(t *testing.T) {
	s, err := Open(NewVirtual(time.Time{}), "")
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was hidden")
			}
		}()
		_ = s.Update(func(tx *Tx) error {
			tx.Put(&Resource{ID: "/subscriptions/s/half", Type: "Microsoft.X/things"})
			panic("boom")
		})
	}()
	s.View(func(tx *Tx) {
		if tx.Get("/subscriptions/s/half") != nil {
			t.Error("half a transaction stayed")
		}
	})
}
