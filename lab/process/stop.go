package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a program may take to end by itself.
const stopGrace = 5 * time.Second

// Stop ends a process: SIGTERM, then SIGKILL to one that still runs after a while. One that is not running is fine.
func (t *Table) Stop(ctx context.Context, name string) (err error) {
	if _, err := os.Stat(t.recordFile(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := t.lockRecord(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	r, err := t.readRecord(name)
	if err != nil {
		return err
	}
	return t.stopRecorded(ctx, name, r)
}

// stopRecorded ends a process and removes its record, which the caller has locked.
func (t *Table) stopRecorded(ctx context.Context, name string, r record) error {
	if err := r.endProcess(ctx, name); err != nil {
		return err
	}
	if err := os.Remove(t.recordFile(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// StopAll ends several processes at the same time.
func (t *Table) StopAll(ctx context.Context, names ...string) error {
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { errs[i] = t.Stop(ctx, name) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// Kill ends a process with SIGKILL and keeps its record, as if it had crashed.
func (t *Table) Kill(ctx context.Context, name string) error {
	r, err := t.readRecord(name)
	if err != nil {
		return err
	}
	if !r.isAlive() {
		return fmt.Errorf("%s %w", name, ErrNotRunning)
	}
	return r.sendSignal(ctx, name, syscall.SIGKILL, stopGrace)
}

func (r record) endProcess(ctx context.Context, name string) error {
	if !r.isAlive() {
		return nil
	}
	if err := r.sendSignal(ctx, name, syscall.SIGTERM, stopGrace); err == nil {
		return nil
	}
	return r.sendSignal(ctx, name, syscall.SIGKILL, stopGrace)
}

func (r record) sendSignal(ctx context.Context, name string, signal syscall.Signal, grace time.Duration) error {
	if err := syscall.Kill(r.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%s (process %d): %v: %w", name, r.PID, signal, err)
	}
	deadline, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for r.isAlive() {
		select {
		case <-deadline.Done():
			return fmt.Errorf("%s (process %d) still runs %s after %v", name, r.PID, grace, signal)
		case <-tick.C:
		}
	}
	return nil
}
