package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

const (
	snapshotFile = "state.json"
	journalFile  = "journal.jsonl"
	lockFile     = "lock"
	compactAfter = 20000 // records
	perRecord    = 200   // resources and operations in one record of a snapshot, so that no more of it is in memory at a time
)

// record has the changes of one transaction. The journal is a file of records, one per line. A snapshot on disk is
// one, too; its records hold everything.
type record struct {
	Put        []*Resource                `json:"put,omitempty"`
	Delete     []string                   `json:"delete,omitempty"`
	Operations []*Operation               `json:"operations,omitempty"`
	Meta       map[string]json.RawMessage `json:"meta,omitempty"`
}

// journal appends one line per transaction. A write the kernel has accepted outlives the process, so SIGKILL loses nothing acknowledged.
type journal struct {
	dir     string
	lock    io.Closer
	file    journalWriter
	store   *Store
	records int
	length  int64 // of the whole records in the file
	torn    bool  // the file has a part of a record behind them
}

// journalWriter is a file that is open for appending.
type journalWriter interface {
	io.WriteCloser
	Truncate(size int64) error
}

func openJournal(dir string, s *Store) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	// Two simulators would write into the same journal.
	lock, err := files.Lock(filepath.Join(dir, lockFile))
	if locked := (*files.LockedError)(nil); errors.As(err, &locked) {
		return nil, fmt.Errorf("state directory %s: another simulator uses it, process %d; stop that simulator or choose another directory",
			dir, locked.PID)
	}
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	j := &journal{dir: dir, lock: lock, store: s}
	if err := j.readFiles(); err != nil {
		return nil, errors.Join(err, j.closeJournal())
	}
	return j, nil
}

// readFiles loads the state, and begins with an empty journal.
func (j *journal) readFiles() error {
	for _, name := range []string{snapshotFile, journalFile} {
		if err := j.loadJournal(filepath.Join(j.dir, name)); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(filepath.Join(j.dir, journalFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	j.file = file
	return j.compactJournal()
}

func (j *journal) loadJournal(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a last line without its newline was never acknowledged
		}
		if err != nil {
			return fmt.Errorf("state %s: %w", path, err)
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			// Without one of the two files the other one has an earlier state.
			return fmt.Errorf("state %s is damaged: %w; remove the folder %s to start empty", path, err, j.dir)
		}
		j.store.replayRecord(rec)
	}
}

func (s *Store) replayRecord(rec record) {
	for _, r := range rec.Put {
		s.applyResource(Key(r.ID), r)
	}
	for _, k := range rec.Delete {
		s.applyResource(k, nil)
	}
	for _, op := range rec.Operations {
		s.applyOp(Key(op.ID), op)
	}
	for k, raw := range rec.Meta {
		if len(raw) == 0 || string(raw) == "null" {
			delete(s.meta, k)
		} else {
			s.meta[k] = raw
		}
	}
}

// compactJournal writes everything as one snapshot and empties the journal. Replaying the old journal over the new snapshot would
// give the same state, so a crash between the two steps is harmless.
func (j *journal) compactJournal() error {
	tmp := filepath.Join(j.dir, snapshotFile+".new")
	if err := writeRecords(tmp, j.store); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(j.dir, snapshotFile)); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := j.file.Truncate(0); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	j.records, j.length, j.torn = 0, 0, false
	return nil
}

// writeRecords writes everything in a store to a file.
func writeRecords(path string, s *Store) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	write := json.NewEncoder(out).Encode
	if err := write(record{Meta: s.meta}); err != nil {
		return err
	}
	for keys := range slices.Chunk(s.keys, perRecord) {
		var rec record
		for _, key := range keys {
			rec.Put = append(rec.Put, s.byKey[key])
		}
		if err := write(rec); err != nil {
			return err
		}
	}
	for operations := range slices.Chunk(slices.Collect(maps.Values(s.ops)), perRecord) {
		if err := write(record{Operations: operations}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// appendRecord writes a record, or nothing: a next record behind a part of this one would make a line that no restart can read.
func (j *journal) appendRecord(rec record) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := j.dropPart(); err != nil {
		return err
	}
	n, err := j.file.Write(append(raw, '\n'))
	if err != nil {
		j.torn = n > 0
		return errors.Join(fmt.Errorf("state: %w", err), j.dropPart())
	}
	j.length += int64(n)
	if j.records++; j.records >= compactAfter && j.compactJournal() != nil {
		j.records = 0 // The journal has this record, so the write stands. A later one compacts the journal.
	}
	return nil
}

// dropPart removes the part of a record that a failed write left.
func (j *journal) dropPart() error {
	if !j.torn {
		return nil
	}
	if err := j.file.Truncate(j.length); err != nil {
		return fmt.Errorf("state: cannot remove an incomplete record of the journal: %w", err)
	}
	j.torn = false
	return nil
}

func (j *journal) closeJournal() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Close())
}
