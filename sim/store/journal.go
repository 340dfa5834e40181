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
)

const (
	snapshotFile = "state.json"
	journalFile  = "journal.jsonl"
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
	file    *os.File
	store   *Store
	records int
}

func openJournal(dir string, s *Store) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	j := &journal{dir: dir, store: s}
	for _, name := range []string{snapshotFile, journalFile} {
		if err := j.loadJournal(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if err := j.compactJournal(); err != nil {
		return nil, err
	}
	return j, nil
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
			return fmt.Errorf("state %s is damaged: %w; remove it to start empty", path, err)
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

// compactJournal writes everything as one snapshot and starts an empty journal. Replaying the old journal over the new snapshot would
// give the same state, so a crash between the two steps is harmless.
func (j *journal) compactJournal() error {
	tmp := filepath.Join(j.dir, snapshotFile+".new")
	if err := writeRecords(tmp, j.store); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(j.dir, snapshotFile)); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	var err error
	if j.file, err = os.OpenFile(filepath.Join(j.dir, journalFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	j.records = 0
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

func (j *journal) appendRecord(rec record) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if _, err := j.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	if j.records++; j.records >= compactAfter {
		return j.compactJournal()
	}
	return nil
}

func (j *journal) closeJournal() error { return j.file.Close() }
